import { Lexer, type Token, type Tokens, type TokensList } from 'marked';

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
      this.#restart();
      this.#source = text;
      this.#final = true;
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
    const tokens = lex(this.#source.slice(this.#settled), this.#links);
    const next = this.#blocks.filter((b) => !b.open);
    const growing = this.#final ? tokens.length : growingFrom(tokens);
    let length = 0;
    tokens.forEach((token, i) => {
      length += token.raw.length;
      const open = i >= growing;
      if (token.type !== 'space' && token.type !== 'def') next.push({ key: next.length, raw: token.raw, token, open });
      if (i === growing - 1) this.#settled += length;
      // A definition that still grows would give the link half an address.
      if (token.type === 'def' && !open) this.#links[(token as Tokens.Def).tag] ??= token as Tokens.Def;
    });
    this.#blocks = next.map((b, i) => {
      const old = this.#blocks[i];
      return old && old.raw === b.raw && old.open === b.open ? old : b;
    });
  }
}

/** The tokens of a text. Text that is nested deeper than the reader can follow stays text. */
function lex(text: string, links: TokensList['links']): Token[] {
  try {
    const lexer = new Lexer({ gfm: true });
    lexer.tokens.links = { ...links };
    return lexer.lex(text);
  } catch (e) {
    if (!(e instanceof RangeError)) throw e;
    return [{ type: 'paragraph', raw: text, text, tokens: [{ type: 'text', raw: text, text }] }];
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
