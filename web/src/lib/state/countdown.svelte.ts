const tickMs = 200;

/**
 * Holds a dangerous button back. Time counts only while the tab is visible and the card is at least half on screen:
 * a card that nobody saw has not been read.
 */
export class Countdown {
  left = $state(0);
  readonly armed = $derived.by(() => this.left <= 0);
  #spent = 0;
  #last = 0;
  #onScreen = true;

  constructor(
    readonly seconds: number,
    private readonly onarmed: () => void = () => undefined,
  ) {
    this.left = seconds;
  }

  /** Share of the time that is over, 0 to 1. */
  get progress(): number {
    return this.seconds === 0 ? 1 : Math.min(1, 1 - this.left / this.seconds);
  }

  /** Attach to a part of the card; counts until it is armed or taken away. */
  watch = (part: Element): (() => void) => {
    if (this.armed) return () => undefined;
    let observer: IntersectionObserver | undefined;
    if (typeof IntersectionObserver !== 'undefined') {
      this.#onScreen = false;
      observer = new IntersectionObserver((entries) => (this.#onScreen = enough(entries.at(-1))), {
        threshold: [0, 0.25, 0.5, 0.75, 1],
      });
      observer.observe(part.closest('[data-confirm]') ?? part);
    }
    this.#last = performance.now();
    const timer = setInterval(() => {
      this.#tick();
      if (this.armed) clearInterval(timer);
    }, tickMs);
    return () => {
      clearInterval(timer);
      observer?.disconnect();
    };
  };

  #tick(): void {
    const now = performance.now();
    if (document.visibilityState === 'visible' && this.#onScreen) this.#spent += now - this.#last;
    this.#last = now;
    this.left = Math.max(0, Math.ceil(this.seconds - this.#spent / 1000));
    if (this.armed) this.onarmed();
  }
}

/** Half of the card, or as much of a tall one as half a screen holds. */
function enough(e: IntersectionObserverEntry | undefined): boolean {
  if (!e?.isIntersecting) return false;
  const screen = e.rootBounds?.height ?? innerHeight;
  return e.intersectionRatio >= 0.5 || e.intersectionRect.height >= screen / 2;
}
