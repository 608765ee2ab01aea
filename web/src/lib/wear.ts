import type { HostTheme } from '../embed/protocol';

// The background that text stands on, in each mode; see tokens.css.
const behind = { light: [255, 255, 255], dark: [20, 20, 20] };
/** The least contrast of text (WCAG 2.2, 1.4.3). */
const readable = 4.5;

type Supports = (property: string, value: string) => boolean;
const browserSupports: Supports = (property, value) => CSS.supports(property, value);

/**
 * Takes the font and the colour of links from the page around this one. Each is only taken if a browser understands
 * it, and a colour only in the mode in which it can be read: Superset's own is too pale on white.
 */
export function wear(theme: HostTheme, root: HTMLElement, supports = browserSupports): void {
  const { fontFamily, link } = theme;
  const set = (name: string, value: string | null) =>
    value === null ? root.style.removeProperty(name) : root.style.setProperty(name, value);
  set('--font', typeof fontFamily === 'string' && supports('font-family', fontFamily) ? fontFamily : null);
  const colour = typeof link === 'string' && supports('color', link) ? link : null;
  const rgb = colour === null ? null : channels(colour, root);
  for (const mode of ['light', 'dark'] as const)
    set(`--link-${mode}`, rgb && contrast(rgb, behind[mode]) >= readable ? colour : null);
}

/** What a colour comes to, as a browser computes it; null for one that is not plain and opaque. */
function channels(colour: string, root: HTMLElement): number[] | null {
  const probe = document.createElement('span');
  probe.style.color = colour;
  root.append(probe);
  const computed = /^rgb\((\d+), (\d+), (\d+)\)$/.exec(getComputedStyle(probe).color);
  probe.remove();
  return computed ? computed.slice(1).map(Number) : null;
}

function contrast(a: number[], b: number[]): number {
  const [x, y] = [luminance(a), luminance(b)].sort((m, n) => n - m) as [number, number];
  return (x + 0.05) / (y + 0.05);
}

function luminance(rgb: number[]): number {
  const [r = 0, g = 0, b = 0] = rgb.map((c) => (c <= 10 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
