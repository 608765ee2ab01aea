import { Lexer, type Token, type TokensList } from 'marked';

export interface Block {
  key: number;
  raw: string;
  token: Token;
  /** More text may still join it. */
  open: boolean;
}

/**
 * Splits a growing text into blocks. Only the tail after the last settled block is read again, so the cost of one
 * step does not grow with the length of the message. Blocks that did not change keep their identity.
 */
export class BlockStream {
  #source = '';
  #settled = 0;
  #final = false;
  #links: TokensList['links'] = {};
  #blocks: Block[] = [];

  /** The blocks of `text`. Text that does not continue the last one starts anew. */
  update(text: string, final: boolean): Block[] {
    if (text === this.#source && final === this.#final) return this.#blocks;
    if (!text.startsWith(this.#source) || this.#final) this.#restart();
    this.#source = text;
    this.#final = final;
    this.#read();
    // A link may be named before it is defined. Only then the whole is read once more.
    if (final && Object.keys(this.#links).length > 0) {
      const links = this.#links;
      this.#restart();
      this.#source = text;
      this.#final = true;
      this.#links = links;
      this.#read();
    }
    return this.#blocks;
  }

  #restart(): void {
    this.#source = '';
    this.#settled = 0;
    this.#final = false;
    this.#links = {};
    this.#blocks = [];
  }

  #read(): void {
    const lexer = new Lexer({ gfm: true });
    lexer.tokens.links = this.#links;
    const tokens = lexer.lex(this.#source.slice(this.#settled)) as Token[];
    const next = this.#blocks.filter((b) => !b.open);
    const growing = this.#final ? tokens.length : growingFrom(tokens);
    let length = 0;
    tokens.forEach((token, i) => {
      length += token.raw.length;
      const open = i >= growing;
      if (token.type !== 'space' && token.type !== 'def') next.push({ key: next.length, raw: token.raw, token, open });
      if (i === growing - 1) this.#settled += length;
    });
    this.#links = lexer.tokens.links;
    this.#blocks = next.map((b, i) => {
      const old = this.#blocks[i];
      return old && old.raw === b.raw && old.open === b.open ? old : b;
    });
  }
}

/** Index of the first token that more text may change. */
function growingFrom(tokens: Token[]): number {
  const content = (before: number) => tokens.findLastIndex((t, i) => i < before && t.type !== 'space');
  const last = content(tokens.length);
  // A last line without its end ("1", "-", "|") may still join the block before it.
  const joins = last > 0 && !tokens[last]?.raw.includes('\n');
  return Math.max(0, joins ? content(last) : last);
}
