import { Malformed } from '../check';
import type { Conversation } from '../conversation';
import { reduce } from '../reduce';
import { readFrame, type WireEvent } from '../wire';

export interface FeedOptions {
  current: () => Conversation;
  /** Called with what became of the conversation and the events that did it, several at a time. */
  apply: (next: Conversation, events: WireEvent[]) => void;
  malformed: (error: Malformed) => void;
  /** An event of a type that this page does not know: a newer server says more. */
  unknown: () => void;
}

/** Text is drawn about as often as a server sends some; a reader sees no more. */
const textMs = 40;
const mostMs = 250;
/** A tab that is hidden draws no frames, but its state has to go on. */
const hiddenMs = 100;

/**
 * Gathers the frames of a stream and applies them before the screen is drawn. Text that grows waits for its turn:
 * four times as long as the last drawing took, so that the page stays usable while a huge block grows. Anything else
 * is seen at once.
 */
export class Feed {
  #queue: string[] = [];
  #frame: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Before this moment text is not drawn again. */
  #due = 0;

  constructor(private readonly o: FeedOptions) {}

  /** Takes one frame. What it says is read when it is drawn: a fast answer has dozens of frames for one drawing. */
  push(data: string, type = ''): void {
    this.#queue.push(data);
    this.#schedule(type === 'text_delta' ? this.#due - performance.now() : 0);
  }

  /** Applies what is waiting, now. */
  flush(): void {
    this.#unschedule();
    const frames = this.#queue;
    if (frames.length === 0) return;
    this.#queue = [];
    const began = performance.now();
    const events = frames.map((f) => this.#read(f)).filter((e) => e !== null);
    this.o.apply(events.reduce(reduce, this.o.current()), events);
    this.#due = began + textMs;
    // Within a frame this comes after it was drawn.
    setTimeout(() => {
      const now = performance.now();
      this.#due = now + Math.min(mostMs, Math.max(textMs, 4 * (now - began)));
    });
  }

  /** Forgets what is waiting. */
  clear(): void {
    this.#unschedule();
    this.#queue = [];
  }

  #read(data: string): WireEvent | null {
    try {
      const event = readFrame(data);
      if (!event) this.o.unknown();
      return event;
    } catch (e) {
      if (!(e instanceof Malformed)) throw e;
      this.o.malformed(e);
      return null;
    }
  }

  #unschedule(): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    this.#frame = undefined;
    this.#timer = undefined;
  }

  #schedule(wait: number): void {
    if (this.#frame !== undefined) return;
    if (wait <= 16) {
      this.#unschedule();
      this.#frame = requestAnimationFrame(() => this.flush());
      this.#timer = setTimeout(() => this.flush(), hiddenMs);
    } else this.#timer ??= setTimeout(() => this.#draw(), wait);
  }

  #draw(): void {
    this.#timer = undefined;
    this.#schedule(0);
  }
}
