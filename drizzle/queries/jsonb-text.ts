/** Text that `jsonb` refuses: NUL and lone surrogates, or escapes that may be lone surrogates. */
const REFUSED = /\\u(?:0000|d[89a-f])/i;
const PREFIX = 'base64:';

/** JSON text as text that any `jsonb` column takes: itself, or a JSON string that holds it encoded. */
export function toJsonb(json: string): string {
  return REFUSED.test(json) ? `"${PREFIX}${Buffer.from(json).toString('base64')}"` : json;
}

/** Restores the input of `toJsonb`, up to field order and white space. `stored` is the column's text. */
export function fromJsonb(stored: string): string {
  if (!stored.startsWith(`"${PREFIX}`)) return stored;
  return Buffer.from(stored.slice(PREFIX.length + 1, -1), 'base64').toString();
}
