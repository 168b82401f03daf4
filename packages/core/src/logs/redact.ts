/** What stands where a secret stood. */
export const REDACTED = '[redacted]';

/** Shapes of secrets in free text: this gateway's keys, the vendors' keys, bearer tokens, URLs with credentials. */
const SECRETS: readonly RegExp[] = [
  /\bllm0_(?:live|admin)_[0-9a-f]{16,}\b/gi,
  /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g,
  /\b(?:gsk|xai|fw|tgp|pplx|hf)[_-][A-Za-z0-9_-]{16,}/g,
  /\bAIza[0-9A-Za-z_-]{30,}/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}/g,
  /(?<=\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}/gi,
  /(?<=[a-z][a-z0-9+.-]*:\/\/)[^\s/@:]*:[^\s/@]+(?=@)/gi,
  /(?<=[?&](?:key|api_key|apikey|token|access_token|secret|password|sig|signature)=)[^&\s"'<>]+/gi,
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
