import type { FoundExpression } from './find-expressions';
import { hardPieces } from './judge-expression';

/** So many of an expression's pieces are fed at full length. */
const MOST_PIECES = 3;
/** Takes no expression's text to its end. */
const MISFIT = '\u0001';

export const fill = (piece: string, length: number) =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length) + MISFIT;

/** Of a core: others on this machine do not count. */
export function feedMs({ source, flags }: FoundExpression, text: string): number {
  const expression = new RegExp(source, /[gy]/.test(flags) ? flags : `${flags}g`);
  const before = process.threadCpuUsage();
  text.replace(expression, '');
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

export const best = (times: number, measure: () => number) => Math.min(...Array.from({ length: times }, measure));

/** Lengths by which to tell more than linear time soon. */
const STEPS = [30, 300, 3_000] as const;
export const HARD_MS = 5;

/** The hardest of the pieces, at this length or where it is already too hard. */
export function hardest(one: FoundExpression, length: number): { readonly piece: string; readonly ms: number } {
  let pieces = hardPieces(one.source, one.flags).map((piece) => ({ piece, ms: 0 }));
  for (const step of [...STEPS.filter((least) => least < length), length]) {
    pieces = pieces.map(({ piece }) => ({ piece, ms: feedMs(one, fill(piece, step)) })).sort((a, b) => b.ms - a.ms);
    pieces = pieces.slice(0, MOST_PIECES);
    const [worst] = pieces;
    if (worst !== undefined && step < length && worst.ms > HARD_MS && feedMs(one, fill(worst.piece, step)) > HARD_MS)
      return worst;
  }
  return pieces[0] ?? { piece: 'a', ms: 0 };
}
