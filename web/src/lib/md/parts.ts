import type { Block } from './blocks';

/** Blocks that are laid out apart from the others. */
export interface Part {
  key: number;
  blocks: Block[];
}

const most = 16;

/**
 * Splits the blocks of an answer into parts, so that what grows at its end costs no layout of what stands above.
 * A part that is as it was in `before` is the same object, so that nothing is done for it.
 */
export function partsOf(blocks: Block[], before: Part[] = []): Part[] {
  return Array.from({ length: Math.ceil(blocks.length / most) }, (_, key) => {
    const own = blocks.slice(key * most, (key + 1) * most);
    const old = before[key];
    return old?.blocks.length === own.length && own.every((b, n) => b === old.blocks[n]) ? old : { key, blocks: own };
  });
}
