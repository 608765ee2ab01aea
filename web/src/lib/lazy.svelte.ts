/**
 * A part of the program that is fetched when it is first needed. It is the same for every page and holds nobody's
 * state, so it may live in a module.
 */
export class Lazy<T> {
  #value = $state.raw<T | null>(null);
  #asked: Promise<void> | null = null;

  constructor(private readonly load: () => Promise<T>) {}

  /** The part, or null until it has arrived; what read null is run again then. It stays null if it never arrives. */
  get current(): T | null {
    void this.want();
    return this.#value;
  }

  /** Begins to fetch it. The promise is kept whether it arrived or not; what did not is asked for again next time. */
  want(): Promise<void> {
    return (this.#asked ??= this.load().then(
      (v) => {
        this.#value = v;
      },
      () => {
        this.#asked = null;
      },
    ));
  }
}
