import innocent from '../../../data/attacks/harmless.txt' with { type: 'text' };
import attacks from '../../../data/attacks/sentences.txt' with { type: 'text' };
import { TimeSlices } from '../../async/time-slices';
import { linesOf } from '../../cache/semantic/english/read-lists';
import { NOTHING_FOUND, type TextCheck } from '../check';
import { foldText } from '../folded-text';
import { mergeSpans, type Span } from '../span';
import { attackPhrases } from './attack-phrases';
import type { CheckNeeds } from './check-needs';
import { undisguise } from './disguised-text';
import { embedAll, SentenceList } from './nearest-sentence';
import { type Passage, passagesOf } from './passages';

/** Characters that are looked at in one go, and those that two goes share. */
const PIECE = 16 * 1024;
const SHARED = 512;
/** Maximum of passages to embed in one text: its first and last ones. */
const MAX_PASSAGES = 64;
const AT_ONCE = 4;
/** Least similarity to an attack, and least margin to anything harmless. Measured on a public set. */
const LEAST_NEARNESS = 0.55;
const LEAST_LEAD = 0.15;
const REASON = 'The text must not try to change how the assistant is instructed.';

/** Detects texts that talk a model out of its instructions, by words and by the bundled embedder. */
export function checkInjection({ embed }: Pick<CheckNeeds, 'embed'>): TextCheck & { prepare(): void } {
  const known = {
    attacks: new SentenceList(linesOf(attacks), embed),
    harmless: new SentenceList(linesOf(innocent), embed),
  };
  return {
    /** Embeds the reference texts ahead, so that the first check waits less. */
    prepare() {
      for (const list of [known.attacks, known.harmless]) list.prepare().catch(() => {});
    },
    async judge({ text }, signal) {
      const phrases = await findPhrases(text);
      if (phrases.spans.length > 0) return { count: phrases.spans.length, spans: phrases.spans, reason: REASON };
      if (phrases.isHidden) return { count: 1, reason: REASON };
      const near = await nearAttacks(text, known, embed, signal);
      return near.length === 0 ? NOTHING_FOUND : { count: near.length, spans: near, reason: REASON };
    },
  };
}

interface Phrases {
  readonly spans: readonly Span[];
  /** True for finds without a known position. */
  readonly isHidden: boolean;
}

async function findPhrases(text: string): Promise<Phrases> {
  const slices = new TimeSlices();
  const spans: Span[] = [];
  let isHidden = false;
  for (let from = 0; from === 0 || from < text.length - SHARED; from += PIECE - SHARED) {
    const piece = text.slice(from, from + PIECE);
    const folded = foldText(piece, 'words');
    for (const { start, end } of attackPhrases(folded.text))
      spans.push({ start: from + folded.originOf(start), end: from + folded.endOf(end), kind: 'injection' });
    await slices.pause();
    // After a find, the search needs no further look.
    if (spans.length === 0 && !isHidden) isHidden = hasPhrases(undisguise(piece));
    await slices.pause();
  }
  return { spans: mergeSpans(spans), isHidden };
}

const hasPhrases = (text: string): boolean => !attackPhrases(foldText(text, 'words').text).next().done;

interface Known {
  readonly attacks: SentenceList;
  readonly harmless: SentenceList;
}

async function nearAttacks(
  text: string,
  known: Known,
  embed: CheckNeeds['embed'],
  signal: AbortSignal,
): Promise<readonly Span[]> {
  const passages = outermost(passagesOf(text));
  const shown = passages.map(({ start, end }) => foldText(text.slice(start, end), 'words').text);
  const vectors = await embedAll(shown, embed, AT_ONCE, signal);
  const spans: Span[] = [];
  for (const [index, passage] of passages.entries()) {
    const vector = vectors[index];
    if (vector !== undefined && (await isAttack(vector, known))) spans.push({ ...passage, kind: 'injection' });
  }
  return spans;
}

async function isAttack(vector: Float32Array, { attacks, harmless }: Known): Promise<boolean> {
  const nearness = await attacks.nearest(vector);
  return nearness >= LEAST_NEARNESS && nearness - (await harmless.nearest(vector)) >= LEAST_LEAD;
}

function outermost(passages: readonly Passage[]): readonly Passage[] {
  if (passages.length <= MAX_PASSAGES) return passages;
  return [...passages.slice(0, MAX_PASSAGES / 2), ...passages.slice(-MAX_PASSAGES / 2)];
}
