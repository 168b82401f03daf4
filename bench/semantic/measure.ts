// `bun bench/semantic/measure.ts`: precision and recall of the semantic cache by threshold, with and without guards.
import { findRefusal } from '@llm0/core/cache/semantic/guards/near-match-guards';
import { DEFAULT_SEMANTIC_THRESHOLD } from '@llm0/core/cache/semantic/semantic-cache';
import { renderTable } from '../report/render-table';
import { embedTexts, similarityOf } from './embed-pairs';
import { type LabelledPair, readPairs } from './read-pairs';

interface Judged extends LabelledPair {
  /** 0 where the embedder refuses a text (not English). */
  readonly similarity: number;
  readonly guard: string | undefined;
}

const THRESHOLDS = [0.97, 0.95, 0.93, 0.92, 0.9, 0.88, 0.87, 0.86, 0.85, 0.84, 0.82, 0.8, 0.75];
const BARE_THRESHOLD = 0.95;

const isServed = (pair: Judged, threshold: number, guarded: boolean) =>
  pair.similarity >= threshold && !(guarded && pair.guard !== undefined);

/** 95 % interval of a share (Wilson). */
function intervalOf(hits: number, of: number): readonly [number, number] {
  const z = 1.96;
  const share = hits / of;
  const middle = (share + (z * z) / (2 * of)) / (1 + (z * z) / of);
  const half = (z / (1 + (z * z) / of)) * Math.sqrt((share * (1 - share)) / of + (z * z) / (4 * of * of));
  return [Math.max(0, middle - half), middle + half];
}

/** 95 % interval of how many times better one recall is than another over the same pairs (bootstrap, fixed seed). */
function ratioInterval(same: readonly Judged[], threshold: number): readonly [number, number] {
  let seed = 7;
  const random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
  const ratios = Array.from({ length: 2000 }, () => {
    let guarded = 0;
    let bare = 0;
    for (let i = 0; i < same.length; i++) {
      const pair = same[Math.floor(random() * same.length)];
      if (pair === undefined) continue;
      if (isServed(pair, threshold, true)) guarded += 1;
      if (isServed(pair, BARE_THRESHOLD, false)) bare += 1;
    }
    return guarded / bare;
  }).sort((a, b) => a - b);
  return [ratios[50] ?? 0, ratios[1949] ?? 0];
}

const percent = (share: number) => (100 * share).toFixed(1);

function cells(pairs: readonly Judged[], threshold: number, guarded: boolean): readonly string[] {
  const served = pairs.filter((pair) => isServed(pair, threshold, guarded));
  const right = served.filter((pair) => pair.kind === 'same').length;
  const wrong = served.length - right;
  const same = pairs.filter((pair) => pair.kind === 'same').length;
  const precision = served.length === 0 ? '–' : percent(right / served.length);
  return [percent(right / same), String(wrong), precision];
}

/** Nothing where there are no pairs. */
function printHalf(title: string, pairs: readonly Judged[]): void {
  if (pairs.length === 0) return;
  const same = pairs.filter((pair) => pair.kind === 'same');
  const other = pairs.filter((pair) => pair.kind !== 'same');
  console.log(`\n### ${title}: ${same.length} pairs of one meaning, ${other.length} of different meaning\n`);
  const plain = ['recall %', 'false hits', 'precision %'];
  const head = ['threshold', ...plain, 'recall % with guards', 'false hits', 'precision %'];
  const lines = THRESHOLDS.map((threshold) => {
    const mark = threshold === DEFAULT_SEMANTIC_THRESHOLD ? ' (default)' : '';
    return [`${threshold}${mark}`, ...cells(pairs, threshold, false), ...cells(pairs, threshold, true)];
  });
  console.log(renderTable(head, lines, head));
  const hits = same.filter((pair) => isServed(pair, DEFAULT_SEMANTIC_THRESHOLD, true)).length;
  const bare = same.filter((pair) => isServed(pair, BARE_THRESHOLD, false)).length;
  const wrong = other.filter((pair) => isServed(pair, DEFAULT_SEMANTIC_THRESHOLD, true));
  const show = ([low, high]: readonly [number, number]) => `${percent(low)} to ${percent(high)}`;
  const ratio = ratioInterval(same, DEFAULT_SEMANTIC_THRESHOLD).map((value) => value.toFixed(2));
  console.log(`
At the default, with guards: recall ${percent(hits / same.length)} % (95 %: ${show(intervalOf(hits, same.length))}),
${(hits / bare).toFixed(2)} times that of the bare 0.95 (95 %: ${ratio.join(' to ')});
false hits ${wrong.length} of ${other.length} (95 %: ${show(intervalOf(wrong.length, other.length))} %).`);
  for (const { kind, a, b, similarity } of wrong) console.log(`- ${similarity.toFixed(3)} ${kind}: ${a} / ${b}`);
}

/** Which guard is the first to refuse pairs over the default threshold. */
function printGuards(pairs: readonly Judged[]): void {
  const over = pairs.filter((pair) => pair.similarity >= DEFAULT_SEMANTIC_THRESHOLD && pair.guard !== undefined);
  const counts = new Map<string, { wrong: number; right: number }>();
  for (const { guard = '', kind } of over) {
    const count = counts.get(guard) ?? { wrong: 0, right: 0 };
    if (kind === 'same') count.right += 1;
    else count.wrong += 1;
    counts.set(guard, count);
  }
  console.log('\n### What the guards refuse at the default threshold, all pairs\n');
  const head = ['guard', 'false hits prevented', 'true hits lost'];
  const lines = [...counts].sort((a, b) => b[1].wrong - a[1].wrong);
  const cellsOf = lines.map(([guard, { wrong, right }]) => [guard, String(wrong), String(right)]);
  console.log(renderTable(head, cellsOf, head));
}

const pairs = readPairs();
const vectors = await embedTexts(pairs.flatMap(({ a, b }) => [a, b]));
const judged = pairs.map((pair): Judged => {
  const [a, b] = [vectors.get(pair.a), vectors.get(pair.b)];
  const similarity = a === undefined || b === undefined ? 0 : similarityOf(a, b);
  return { ...pair, similarity, guard: findRefusal(pair.a, pair.b) };
});
const { heldBack = [], tunedOn = [] } = Object.groupBy(judged, (pair) => (pair.heldBack ? 'heldBack' : 'tunedOn'));
printHalf('Held back', heldBack);
printHalf('Tuned on', tunedOn);
printGuards(judged);
