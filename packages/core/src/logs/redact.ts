/** What stands where a secret stood. */
export const REDACTED = '[redacted]';

/** Shapes of secrets in free text: this gateway's keys, the vendors' keys, bearer tokens, URLs with credentials. */
const SECRETS: readonly RegExp[] = [
  /\bllm0_(?:live|admin)_[0-9a-f]{16,}\b/gi,
  /\b(?:(?:sk|rk)[_-]|pk-|pk_(?:live|test)_)[A-Za-z0-9_-]{16,}/g,
  /\b(?:gsk|xai|fw|tgp|pplx|hf|r8)[_-][A-Za-z0-9_-]{16,}/g,
  // As vendors repeat them, partly masked.
  /\b(?:sk|pk|rk|gsk|xai|fw|r8|key)[_-][\w-]*\*{2,}[\w*-]*/g,
  /\bAIza[0-9A-Za-z_-]{16,}/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{12,}\b/g,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]{5,})?/g,
  /(?<=\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}/gi,
  /(?<=[a-z]:\/\/)[^\s/@?#]+(?=@)/gi,
  /(?<=[?&](?:key|api[-_]?key|token|access_token|secret|password|sig|signature)=)[^&\s"'<>]+/gi,
];

/** Names whose value is a secret, whatever it looks like. */
const SECRET_NAMES =
  /^(?:proxy-)?authorization$|^(?:x-)?(?:goog-)?api[-_]?key$|^(?:.*[-_])?(?:password|passwd|secret|secret[-_]?key|access[-_]?token|refresh[-_]?token|private[-_]?key|cookie|set-cookie)$/i;

/** The text without anything that looks like a secret. Idempotent. */
export function redactText(text: string): string {
  let result = text;
  for (const pattern of SECRETS) result = result.replace(pattern, REDACTED);
  return result;
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

/** A copy of JSON with secrets taken out of all its strings, and out of fields named like one. */
export function redactJson<T>(value: T): T;
export function redactJson(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return value.map((part) => redactJson(part));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      SECRET_NAMES.test(name) && part !== null && part !== '' ? REDACTED : redactJson(part),
    ]),
  );
}
