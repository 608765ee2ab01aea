import { Refused, type Api, type ArtifactPage } from '../api';

const pageRows = 50;

/** Pages through a stored result by the server's cursors. A page that was overtaken by another is dropped. */
export class Pages {
  page = $state.raw<ArtifactPage | null>(null);
  first = $state(0);
  loading = $state(false);
  failed = $state.raw<Refused | null>(null);
  #cursors: string[] = [''];
  #at = 0;
  #asked = new AbortController();

  constructor(
    private readonly api: Api,
    private readonly id: string,
  ) {}

  get hasPrevious(): boolean {
    return this.first > 0;
  }

  get hasNext(): boolean {
    return this.page !== null && !this.page.eof && this.page.next_cursor !== undefined;
  }

  start = (): Promise<void> => this.#read(0);
  next = (): Promise<void> => this.#read(this.#at + 1);
  previous = (): Promise<void> => this.#read(this.#at - 1);

  destroy(): void {
    this.#asked.abort();
  }

  async #read(at: number): Promise<void> {
    const cursor = this.#cursors[at];
    if (cursor === undefined) return;
    this.#asked.abort();
    const asked = new AbortController();
    this.#asked = asked;
    this.loading = true;
    try {
      const page = await this.api.artifact(this.id, { cursor, limit: pageRows }, asked.signal);
      if (asked !== this.#asked) return;
      this.page = page;
      this.failed = null;
      this.#at = at;
      this.first = at * pageRows;
      if (page.next_cursor) this.#cursors[at + 1] = page.next_cursor;
    } catch (e) {
      if (asked.signal.aborted) return;
      if (!(e instanceof Refused)) throw e;
      this.failed = e;
    } finally {
      if (asked === this.#asked) this.loading = false;
    }
  }
}
