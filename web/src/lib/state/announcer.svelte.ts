const gapMs = 500;

/** The texts of the page's two live regions. At most one every half second is spoken, and never parts of an answer. */
export class Announcer {
  polite = $state('');
  urgent = $state('');
  #queue: { text: string; urgent: boolean }[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  say(text: string, urgent = false): void {
    this.#queue.push({ text, urgent });
    if (this.#timer === undefined) this.#next();
  }

  destroy(): void {
    clearTimeout(this.#timer);
    this.#queue = [];
  }

  #next(): void {
    const next = this.#queue.shift();
    if (!next) {
      this.#timer = undefined;
      return;
    }
    // The same words twice are no change of the region: a space that nobody hears makes them one.
    if (next.urgent) this.urgent = next.text === this.urgent ? `${next.text}\u00a0` : next.text;
    else this.polite = next.text === this.polite ? `${next.text}\u00a0` : next.text;
    this.#timer = setTimeout(() => this.#next(), gapMs);
  }
}
