/** A passage of a text to embed. */
export interface Passage {
  readonly start: number;
  readonly end: number;
}

const LEAST = 24;
const MOST = 400;
const END = /[.!?\n\u3002\uff01\uff1f]/;
const SPACE = /\s/;

/** Splits a text by sentences: joins short ones to the previous, cuts long ones at a space. Drops only space. */
export function passagesOf(text: string): readonly Passage[] {
  const passages: Passage[] = [];
  let start = 0;
  let space = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? '';
    const isSpace = SPACE.test(character);
    if (isSpace) space = at;
    const ends =
      END.test(character) && (at + 1 === text.length || character === '\n' || SPACE.test(text[at + 1] ?? ''));
    const length = at + 1 - start;
    if (!(ends && length >= LEAST) && length < MOST) continue;
    const end = length >= MOST && space > start + LEAST ? space : at + 1;
    add(passages, text, start, end);
    start = end;
    space = end;
  }
  add(passages, text, start, text.length);
  return passages;
}

function add(passages: Passage[], text: string, from: number, to: number): void {
  let [start, end] = [from, to];
  while (start < end && SPACE.test(text[start] ?? '')) start++;
  while (end > start && SPACE.test(text[end - 1] ?? '')) end--;
  const last = passages.at(-1);
  if (end === start) return;
  if (end - start < LEAST && last !== undefined && end - last.start <= MOST)
    passages[passages.length - 1] = { start: last.start, end };
  else passages.push({ start, end });
}
