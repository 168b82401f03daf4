/** Least score of a word match. */
const WORD = 20;

/** Score of a text for a query: higher is better, 0 is no match. All words must occur, in any order. */
export function scoreOf(text: string, typed: string): number {
  const hay = text.toLowerCase();
  let sum = 1;
  for (const word of typed.toLowerCase().split(/\s+/)) {
    if (word === '') continue;
    const score = wordScore(hay, word);
    if (score === 0) return 0;
    sum += score;
  }
  // The shorter of two equal matches ranks first.
  return sum + 1 / (1 + hay.length);
}

function wordScore(hay: string, word: string): number {
  const at = hay.indexOf(word);
  if (at === 0) return hay.length === word.length ? 100 : 60;
  if (at > 0) return /[\s/._:-]/.test(hay[at - 1] ?? '') ? 40 : 20;
  // Its letters in order, not too far apart: `g4om` finds `gpt-4o-mini`.
  let from = 0;
  let first = -1;
  for (const letter of word) {
    const next = hay.indexOf(letter, from);
    if (next < 0) return 0;
    if (first < 0) first = next;
    from = next + 1;
  }
  return word.length > 1 && from - first <= word.length * 2 ? 5 : 0;
}

/** Matches of a query, best first; unchanged without a query. `guessOf`: text in which its letters in order are a guess. */
export function rank<T>(
  items: readonly T[],
  typed: string,
  textOf: (item: T) => string,
  guessOf = textOf,
): readonly T[] {
  if (typed.trim() === '') return items;
  const scored = (of: (item: T) => string) =>
    items
      .map((item) => ({ item, score: scoreOf(of(item), typed) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score);
  // Letters in order are of use where nothing has the words themselves.
  const found = scored(textOf).filter(({ score }) => score >= WORD);
  return (found.length > 0 ? found : scored(guessOf)).map(({ item }) => item);
}
