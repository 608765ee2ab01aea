/**
 * Texts that were typed and not sent, one for each conversation, kept in this tab over a reload. They belong to one
 * user: another one finds none. A browser that keeps nothing just forgets them.
 */
export class Drafts {
  constructor(
    private readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'> | null = session(),
  ) {}

  /** The text of a conversation; null is the one that is not begun. */
  of = (conversation: string | null): string => this.#try((s) => s.getItem(prefix + (conversation ?? ''))) ?? '';

  keep(conversation: string | null, text: string): void {
    const key = prefix + (conversation ?? '');
    this.#try((s) => (text === '' ? s.removeItem(key) : s.setItem(key, text)));
  }

  /** Says whose they are from now on. Reports whether they were somebody else's, and are gone. */
  belongTo(user: string): boolean {
    const other = this.#try((s) => {
      const was = s.getItem(owner);
      s.setItem(owner, user);
      return was !== null && was !== user;
    });
    if (!other) return false;
    this.#try((s) => {
      const all = Array.from({ length: s.length }, (_, n) => s.key(n)).filter((k) => k?.startsWith(prefix));
      for (const key of all) if (key !== null) s.removeItem(key);
    });
    return true;
  }

  #try<T>(act: (s: NonNullable<typeof this.storage>) => T): T | null {
    try {
      return this.storage ? act(this.storage) : null;
    } catch {
      return null;
    }
  }
}

const prefix = 'agentd.draft.';
const owner = 'agentd.user';

function session(): Storage | null {
  try {
    return globalThis.sessionStorage ?? null;
  } catch {
    return null;
  }
}
