/** Shorter repeats also occur in random text. */
const SHORTEST_REPEAT = 6;
const SHORTEST_WORD = 5;
/** A word of some thousands, five letters long on average. */
const BITS_A_LETTER_OF_WORDS = 13 / 5;
/** 128 bits minus six for version and variant. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const UUID_BITS = 122;
const HEX = /^(?:[0-9a-f]+|[0-9A-F]+)$/;
const CLASSES = [
  [/[0-9]/, 10],
  [/[a-z]/, 26],
  [/[A-Z]/, 26],
  [/[^0-9A-Za-z]/, 32],
] as const;
const ROWS = ['0123456789abcdef', 'abcdefghijklmnopqrstuvwxyz', '01234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm'];
const SEQUENCES = ROWS.flatMap((row) => [row, [...row].reverse().join('')]).join('\n');

/**
 * Estimates the entropy of a secret against an attacker who knows people's habits: alphabets, repeats, keyboard rows
 * and words. The estimate is an upper bound: a random-looking secret may be public.
 */
export function guessEntropyBits(secret: string): number {
  const bitsACharacter = UUID.test(secret) ? UUID_BITS / 36 : Math.log2(alphabetOf(secret));
  const isWordy = !HEX.test(secret) && lettersOfWords(secret) * 2 >= secret.length;
  const lower = secret.toLowerCase();
  let bits = 0;
  for (let at = 0; at < secret.length; ) {
    const known = lengthOfKnown(lower, at);
    if (known >= SHORTEST_REPEAT) {
      bits += Math.log2(secret.length * known);
      at += known;
      continue;
    }
    bits += isWordy ? Math.min(bitsACharacter, BITS_A_LETTER_OF_WORDS) : bitsACharacter;
    at += 1;
  }
  return bits;
}

function alphabetOf(secret: string): number {
  if (HEX.test(secret)) return /^[0-9]+$/.test(secret) ? 10 : 16;
  return CLASSES.reduce((size, [pattern, count]) => size + (pattern.test(secret) ? count : 0), 0);
}

/** Length of a repeat or of a keyboard or alphabet row from here on. */
function lengthOfKnown(text: string, at: number): number {
  let length = 0;
  while (at + length < text.length) {
    const piece = text.slice(at, at + length + 1);
    // A repeat may begin before it and reach into itself.
    const isRepeat = text.indexOf(piece) < at;
    if (!isRepeat && !SEQUENCES.includes(piece)) break;
    length += 1;
  }
  return length;
}

/** Letters in runs of one case that can be spoken: vowels among them, never five consonants in a row. */
function lettersOfWords(secret: string): number {
  const runs = secret.match(new RegExp(`[A-Z]?[a-z]{${SHORTEST_WORD},}|[A-Z]{${SHORTEST_WORD},}`, 'g')) ?? [];
  return runs.reduce((sum, run) => sum + (isSpoken(run.toLowerCase()) ? run.length : 0), 0);
}

function isSpoken(run: string): boolean {
  const vowels = run.match(/[aeiouy]/g)?.length ?? 0;
  return vowels >= run.length / 5 && vowels <= (run.length * 2) / 3 && !/[^aeiouy]{5}/.test(run);
}
