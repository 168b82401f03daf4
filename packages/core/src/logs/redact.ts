/** Replacement of a secret. */
export const REDACTED = '[redacted]';

/**
 * Secrets in free text: gateway and vendor keys, bearer tokens, URLs with credentials. The first group stays. Linear in
 * the worst case: no text is scanned repeatedly.
 */
const SECRETS: readonly RegExp[] = [
  /()\bllm0_(?:live|admin)_[0-9a-f]{16,}\b/gi,
  /()\b(?:(?:sk|rk)[_-]|pk-|pk_(?:live|test)_)[A-Za-z0-9_-]{16,}/g,
  /()\b(?:gsk|xai|fw|tgp|pplx|hf|r8)[_-][A-Za-z0-9_-]{16,}/g,
  // Partly masked keys, as vendors repeat them.
  /()\b(?:sk|pk|rk|gsk|xai|fw|r8|key)[_-][\w-]{0,64}?\*{2,}[\w*-]*/g,
  /()\bAIza[0-9A-Za-z_-]{16,}/g,
  /()\b(?:AKIA|ASIA)[0-9A-Z]{12,}\b/g,
  /(\b(?:bearer|basic)\s{1,20})[A-Za-z0-9._~+/=-]{8,}/gi,
  /([a-z]:\/\/)[^\s/@?#]{1,1000}(?=@)/gi,
  /([?&](?:key|api[-_]?key|token|access_token|secret|password|sig|signature)=)[^&\s"'<>]+/gi,
];
const JWT_HEAD = 'eyJ';
/** Least characters of a JWT's parts. */
const JWT_PARTS = [13, 10, 5] as const;

/** Names whose values are always secret. */
const SECRET_NAMES =
  /^(?:proxy-)?authorization$|^(?:x-)?(?:goog-)?api[-_]?key$|^(?:.*[-_])?(?:password|passwd|secret|secret[-_]?key|access[-_]?token|refresh[-_]?token|private[-_]?key|cookie|set-cookie)$/i;

/** The text without anything that looks like a secret. Idempotent. */
export function redactText(text: string): string {
  let result = text;
  for (const pattern of SECRETS) result = result.replace(pattern, `$1${REDACTED}`);
  return withoutTokens(result);
}

/** Each run of a token's characters is looked at once: an expression would begin again at every head in it. */
function withoutTokens(text: string): string {
  let result = '';
  let keptTo = 0;
  for (let head = text.indexOf(JWT_HEAD); head >= 0; ) {
    const isHead = head === 0 || !/\w/.test(text[head - 1] ?? '');
    const end = isHead ? endOfToken(text, head) : undefined;
    if (end !== undefined) {
      result += `${text.slice(keptTo, head)}${REDACTED}`;
      keptTo = end;
    }
    head = text.indexOf(JWT_HEAD, end ?? (isHead ? endOfPart(text, head) : head + 1));
  }
  return result + text.slice(keptTo);
}

/** Header, payload and optional signature; undefined for anything else. */
function endOfToken(text: string, head: number): number | undefined {
  const [leastHead, leastBody, leastSignature] = JWT_PARTS;
  const headEnd = endOfPart(text, head);
  if (headEnd - head < leastHead || text[headEnd] !== '.') return undefined;
  const bodyEnd = endOfPart(text, headEnd + 1);
  if (bodyEnd - headEnd - 1 < leastBody) return undefined;
  const signatureEnd = text[bodyEnd] === '.' ? endOfPart(text, bodyEnd + 1) : bodyEnd;
  return signatureEnd - bodyEnd - 1 >= leastSignature ? signatureEnd : bodyEnd;
}

const PART = /[A-Za-z0-9_-]*/y;

function endOfPart(text: string, from: number): number {
  PART.lastIndex = from;
  PART.test(text);
  return PART.lastIndex;
}

/** Longest upstream message passed on, in characters. */
const MESSAGE_CHARACTERS = 1000;

/** A vendor's own words, safe to show: one line, bounded, without secrets. */
export function redactMessage(message: string): string {
  const text = redactText(message.slice(0, 4 * MESSAGE_CHARACTERS))
    .replace(/\s+/g, ' ')
    .trim();
  return text.length > MESSAGE_CHARACTERS ? `${text.slice(0, MESSAGE_CHARACTERS)}…` : text;
}

/** Longer names are never secret names. */
const MAX_NAME = 256;

/** A copy of JSON with secrets taken out of all its strings, and out of fields named like one. */
export function redactJson<T>(value: T): T;
export function redactJson(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return value.map((part) => redactJson(part));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      name.length <= MAX_NAME && SECRET_NAMES.test(name) && part !== null && part !== '' ? REDACTED : redactJson(part),
    ]),
  );
}
