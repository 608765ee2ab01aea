/** What holds a scroller at its end. */
export interface Stick {
  /** Goes to the end and stays there. */
  toEnd(): void;
  destroy(): void;
}

/**
 * Keeps a scroller at its end while its content grows, and lets go only when the reader moves up. The distance to
 * the end alone does not tell a reader from content that grew between two scroll events; the direction does.
 * Who is not at the end is held by the browser's own scroll anchoring, which is off while the end is followed.
 */
export function stick(scroller: HTMLElement, content: HTMLElement, onchange: (pinned: boolean) => void): Stick {
  let pinned = true;
  let lastTop = scroller.scrollTop;
  let lastMax = 0;
  const max = () => scroller.scrollHeight - scroller.clientHeight;
  const set = (p: boolean) => {
    if (p === pinned) return;
    pinned = p;
    scroller.style.overflowAnchor = p ? 'none' : 'auto';
    onchange(p);
  };
  const jump = () => {
    const end = max();
    scroller.scrollTop = end;
    lastTop = scroller.scrollTop;
    lastMax = end;
  };
  const onScroll = () => {
    const top = scroller.scrollTop;
    const end = max();
    const shrunk = end < lastMax;
    if (top < lastTop - 3 && !(shrunk && top >= end - 2)) set(false);
    else if (end - top < 24) set(true);
    lastTop = top;
    lastMax = end;
  };
  const sizes = new ResizeObserver(() => {
    if (pinned) jump();
  });
  scroller.style.overflowAnchor = 'none';
  scroller.addEventListener('scroll', onScroll, { passive: true });
  sizes.observe(content);
  sizes.observe(scroller);
  jump();
  return {
    toEnd() {
      set(true);
      jump();
    },
    destroy() {
      sizes.disconnect();
      scroller.removeEventListener('scroll', onScroll);
    },
  };
}
