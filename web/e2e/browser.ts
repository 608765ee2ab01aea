import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium, type Browser, type BrowserContext, type Frame, type Page } from 'playwright-core';

const require = createRequire(import.meta.url);
const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export interface Opened {
  context: BrowserContext;
  page: Page;
  /** Errors of the console and of scripts, violations of the page's policy among them. */
  errors: string[];
  /** Addresses outside the page's own origin that were asked for. */
  foreign: string[];
  /** Fails when the page broke a rule of its own policy, whatever the test was about. */
  close: () => Promise<void>;
}

export interface Look {
  width?: number;
  height?: number;
  scheme?: 'light' | 'dark';
  touch?: boolean;
}

let browser: Promise<Browser> | undefined;

/** One browser with an empty profile for all tests of a file. */
const launched = (): Promise<Browser> =>
  (browser ??= chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: flags }));

/** Ends the browser; to be called once after the tests of a file. */
export async function quit(): Promise<void> {
  await (await browser)?.close();
  browser = undefined;
}

/** Opens a page in a context of its own: no cookies, no storage, no cache of others. */
export async function open(url: string, look: Look = {}): Promise<Opened> {
  const context = await (
    await launched()
  ).newContext({
    viewport: { width: look.width ?? 1280, height: look.height ?? 860 },
    colorScheme: look.scheme ?? 'light',
    hasTouch: look.touch ?? false,
    locale: 'en-US',
  });
  const broken: string[] = [];
  await context.exposeFunction('ruleBroken', (what: string) => broken.push(what));
  await context.addInitScript(() => {
    if (!location.pathname.endsWith('/agent')) return; // pages around it have rules of their own
    const { ruleBroken } = window as unknown as { ruleBroken: (what: string) => void };
    document.addEventListener('securitypolicyviolation', (e) =>
      ruleBroken(`${e.violatedDirective} ${e.blockedURI} ${e.sample}`),
    );
  });
  const page = await context.newPage();
  const errors: string[] = [];
  const foreign: string[] = [];
  const origin = new URL(url).origin;
  page.on('console', (m) => {
    if (m.type() === 'error') errors.push(m.text());
  });
  page.on('pageerror', (e) => errors.push(String(e)));
  context.on('request', (r) => {
    if (!/^(data|blob):/.test(r.url()) && new URL(r.url()).origin !== origin) foreign.push(r.url());
  });
  await page.goto(url);
  const close = async () => {
    await context.close();
    if (broken.length > 0) throw new Error(`the page's policy was broken: ${broken.join('; ')}`);
  };
  return { context, page, errors, foreign, close };
}

export interface Violation {
  id: string;
  nodes: string[];
}

/** What axe finds in `part`. The page's policy forbids injected scripts, so it is lifted after the page has loaded. */
export async function axe(page: Page | Frame, part = 'html'): Promise<Violation[]> {
  const whole = 'context' in page ? page : page.page();
  const cdp = await whole.context().newCDPSession(whole);
  await cdp.send('Page.setBypassCSP', { enabled: true });
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axeSource);
  const found = await page.evaluate(async (part) => {
    // Turns off screen are not laid out until they are near; axe would measure them where they never are.
    const all = new CSSStyleSheet();
    all.replaceSync('* { content-visibility: visible !important; }');
    document.adoptedStyleSheets = [all];
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    const { axe } = window as unknown as {
      axe: {
        run: (
          part: string,
          o: object,
        ) => Promise<{ violations: { id: string; nodes: { target: unknown[]; failureSummary?: string }[] }[] }>;
      };
    };
    const r = await axe.run(part, { runOnly: tags, resultTypes: ['violations'] });
    return r.violations.map((v) => ({
      id: v.id,
      nodes: v.nodes.map((n) => `${n.target.join(' ')}: ${(n.failureSummary ?? '').slice(0, 200)}`),
    }));
  }, part);
  await cdp.send('Page.setBypassCSP', { enabled: false });
  return found;
}

/** What is wider than the window, or than its own part of it: the parts that scroll only downwards. */
export const overflows = (page: Page | Frame): Promise<string[]> =>
  page.evaluate(() => {
    const parts = [...document.querySelectorAll('html, body, header, nav, .list, main, footer, dialog[open]')];
    const wide = parts.filter((e) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'none');
    return wide.map((e) => `${e.tagName} ${e.className}: ${e.scrollWidth} in ${e.clientWidth}`);
  });
