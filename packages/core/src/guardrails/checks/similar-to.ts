import { NOTHING_FOUND, type TextCheck } from '../check';
import type { Span } from '../span';
import type { CheckNeeds } from './check-needs';
import { embedAll, SentenceList } from './nearest-sentence';
import { passagesOf } from './passages';

export interface SimilarRule {
  readonly examples: readonly string[];
  /** A cosine, of 0 to 1. */
  readonly threshold: number;
}

const MAX_EXAMPLES = 200;
const MAX_EXAMPLE_LENGTH = 1000;
/** A text that has more cannot be judged in time. */
const MAX_PASSAGES = 200;
const AT_ONCE = 4;

/** Finds passages with a meaning close to an example. Throws for invalid examples. */
export function checkSimilarity({ examples, threshold }: SimilarRule, { embed }: Pick<CheckNeeds, 'embed'>): TextCheck {
  const sentences = examples.map((example) => example.trim());
  if (sentences.length === 0 || sentences.length > MAX_EXAMPLES)
    throw new Error(`"examples" must be 1 to ${MAX_EXAMPLES} sentences`);
  if (sentences.some((one) => one === '' || one.length > MAX_EXAMPLE_LENGTH))
    throw new Error(`an example must have 1 to ${MAX_EXAMPLE_LENGTH} characters`);
  if (!(threshold > 0 && threshold <= 1)) throw new Error('"threshold" must be above 0, and 1 at the most');
  const known = new SentenceList(sentences, embed);
  // Ahead of the first text; a failure retries and reports then.
  known.prepare().catch(() => {});
  return {
    async judge({ text }, signal) {
      const passages = passagesOf(text);
      if (passages.length > MAX_PASSAGES) throw new Error(`the text has more than ${MAX_PASSAGES} passages`);
      const shown = passages.map(({ start, end }) => text.slice(start, end));
      const vectors = await embedAll(shown, embed, AT_ONCE, signal);
      const spans: Span[] = [];
      for (const [index, passage] of passages.entries()) {
        const vector = vectors[index];
        if (vector !== undefined && (await known.nearest(vector)) >= threshold)
          spans.push({ ...passage, kind: 'topic' });
      }
      if (spans.length === 0) return NOTHING_FOUND;
      return { count: spans.length, spans, reason: 'The text must stay away from a topic that is not allowed.' };
    },
  };
}
