import { Malformed } from '../check';
import type { Conversation } from '../conversation';
import { reduce } from '../reduce';
import { readFrame, type WireEvent } from '../wire';

export interface FeedOptions {
  current: () => Conversation;
  /** Called at most once a frame with what became of the conversation and the events that did it. */
  apply: (next: Conversation, events: WireEvent[]) => void;
  malformed: (error: Malformed) => void;
}

/**
 * Gathers the frames of a stream and applies them once a screen frame. When applying and drawing get expensive, it
 * waits four times as long as the last one took, so that the page stays usable while a huge block grows.
 */
export class Feed {
  #queue: WireEvent[] = [];
  #frame: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #cost = 0;

  constructor(private readonly o: FeedOptions) {}

  push(data: string): void {
    try {
      const event = readFrame(data);
      if (event) this.#queue.push(event);
    } catch (e) {
      if (!(e instanceof Malformed)) throw e;
      this.o.malformed(e);
      return;
    }
    this.#schedule();
  }

  /** Applies what is waiting, now. */
  flush(): void {
    this.clearTimers();
    const events = this.#queue;
    if (events.length === 0) return;
    this.#queue = [];
    const began = performance.now();
    const next = events.reduce(reduce, this.o.current());
    this.o.apply(next, events);
    // Drawing follows in microtasks; the next task sees what it took.
    queueMicrotask(() => (this.#cost = performance.now() - began));
  }

  /** Forgets what is waiting. */
  clear(): void {
    this.clearTimers();
    this.#queue = [];
  }

  private clearTimers(): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    this.#frame = undefined;
    this.#timer = undefined;
  }

  #schedule(): void {
    if (this.#frame !== undefined || this.#timer !== undefined) return;
    const wait = Math.min(250, 4 * this.#cost);
    // A hidden tab draws no frames, but its state has to go on.
    if (document.visibilityState !== 'visible') this.#timer = setTimeout(() => this.flush(), 100);
    else if (wait > 16) this.#timer = setTimeout(() => this.flush(), wait);
    else this.#frame = requestAnimationFrame(() => this.flush());
  }
}
