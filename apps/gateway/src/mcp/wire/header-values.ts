const PREFIX = '=?base64?';
const SUFFIX = '?=';
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** A text as `Mcp-Name` or `Mcp-Param-*`: unchanged if headers allow it, else in Base64. */
export function encodeHeaderValue(text: string): string {
  const isMarked = text.startsWith(PREFIX) && text.endsWith(SUFFIX);
  return PLAIN.test(text) && !isMarked ? text : `${PREFIX}${Buffer.from(text).toString('base64')}${SUFFIX}`;
}

/** undefined for Base64 that is none. */
export function decodeHeaderValue(value: string): string | undefined {
  const text = value.trim();
  if (!text.startsWith(PREFIX) || !text.endsWith(SUFFIX) || text.length < PREFIX.length + SUFFIX.length) return text;
  const inner = text.slice(PREFIX.length, -SUFFIX.length);
  if (inner.length % 4 !== 0 || !BASE64.test(inner)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(inner, 'base64'));
  } catch {
    return undefined;
  }
}
