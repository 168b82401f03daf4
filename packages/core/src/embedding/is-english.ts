import { eld } from 'eld/extrasmall';

/** Function words, and openings of requests, that no other language shares. */
const ENGLISH =
  /\b(?:the|is|are|was|what|which|who|how|why|when|where|does|did|this|that|with|from|have|my|your|you)\b/gi;
/** An English score this close to the best one counts if the words agree. */
const CLOSE = 0.9;

/** True for English text, as far as its length allows. Text without words has no language. */
export function isEnglish(text: string): boolean {
  if (!/\p{L}{2}/u.test(text)) return true;
  const result = eld.detect(text);
  if (result.language === 'en') return true;
  const scores = result.getScores();
  const best = scores[result.language] ?? 0;
  const words = new Set(text.match(ENGLISH)?.map((word) => word.toLowerCase()));
  return words.size >= 2 && (scores.en ?? 0) >= CLOSE * best;
}
