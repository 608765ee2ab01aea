/**
 * A part of the program that is fetched when it is first needed. It is the same for every page and holds nobody's
 * state, so it may live in a module.
 */
export class Lazy<T> {
  #value = $state.raw<T | null>(null);
  #asked = false;

  constructor(private readonly load: () => Promise<T>) {}

  /** The part, or null until it has arrived; what read null is run again then. It stays null if it never arrives. */
  get current(): T | null {
    this.want();
    return this.#value;
  }

  /** Begins to fetch it. */
  want(): void {
    if (this.#asked) return;
    this.#asked = true;
    this.load().then(
      (v) => (this.#value = v),
      () => (this.#asked = false),
    );
  }
}
