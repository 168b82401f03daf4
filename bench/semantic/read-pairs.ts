import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dir, 'pairs');

export type PairKind =
  | 'same'
  | 'number'
  | 'date'
  | 'unit'
  | 'negation'
  | 'antonym'
  | 'entity'
  | 'quote'
  | 'code'
  | 'language'
  | 'order'
  | 'topic'
  | 'scope';

/** Two questions and whether one's answer answers the other. */
export interface LabelledPair {
  /** File name without its ending. */
  readonly area: string;
  /** First question of the group. */
  readonly a: string;
  readonly b: string;
  readonly kind: PairKind;
  /** Written after the guards were finished, and never used to change them. */
  readonly heldBack: boolean;
}

/**
 * The labelled set, as written by hand: blank lines part groups; the first line of one is the question, `=` is another
 * wording of it, `!kind` one whose answer would be wrong for it. A question may stand in several files.
 */
export function readPairs(): readonly LabelledPair[] {
  return [...readFolder(FOLDER, false), ...readFolder(join(FOLDER, 'held-back'), true)];
}

function readFolder(folder: string, heldBack: boolean): readonly LabelledPair[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith('.txt'))
    .sort()
    .flatMap((file) => {
      const groups = readFileSync(join(folder, file), 'utf8')
        .trim()
        .split(/\n{2,}/);
      return groups.flatMap((group) => readGroup(file.replace(/\.txt$/, ''), group.split('\n'), heldBack));
    });
}

function readGroup(area: string, [a = '', ...variants]: readonly string[], heldBack: boolean): readonly LabelledPair[] {
  return variants.map((line) => {
    const [, mark = '', b = ''] = /^(=|!\w+) (.+)$/.exec(line) ?? [];
    if (b === '') throw new Error(`not a variant: ${line}`);
    return { area, a, b, kind: (mark === '=' ? 'same' : mark.slice(1)) as PairKind, heldBack };
  });
}
