const SPACED = /(?<![\p{L}\p{N}])\p{L}(?:[ ._*-]\p{L}){3,200}(?![\p{L}\p{N}])/gu;
const BASE64 = /[A-Za-z0-9+/_-]{24,8000}/g;
const LEET: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
};
const LEET_WORD = /[a-z013457@$]{3,40}/g;
const READABLE = /^[\x20-\x7e\n\r\t]{16,6000}$/;

/** What a text says in letters with spaces between them, in digits for letters, or in base64; undefined where it has none. */
export function undisguise(text: string): string | undefined {
  const parts = [...decoded(text), ...spaced(text), ...plain(text)];
  return parts.length === 0 ? undefined : parts.join('\n');
}

function* decoded(text: string): Generator<string> {
  for (const [run] of text.matchAll(BASE64)) {
    const bytes = Buffer.from(run, run.includes('-') || run.includes('_') ? 'base64url' : 'base64');
    const shown = bytes.toString('latin1');
    if (READABLE.test(shown)) yield shown;
  }
}

function* spaced(text: string): Generator<string> {
  const joined = text.replace(SPACED, (letters) => letters.replace(/[ ._*-]/g, ''));
  if (joined !== text) yield joined;
}

function* plain(text: string): Generator<string> {
  const lower = text.toLowerCase();
  const read = lower.replace(LEET_WORD, (word) =>
    /[a-z]/.test(word) && /[013457@$]/.test(word) ? word.replace(/[013457@$]/g, (one) => LEET[one] ?? one) : word,
  );
  if (read !== lower) yield read;
}
