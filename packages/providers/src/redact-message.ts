/** Longest upstream message passed on, in characters. */
const MAX_CHARACTERS = 1000;

/** Things that look like credentials, in messages that vendors write. */
const SECRETS: readonly RegExp[] = [
  /\b(?:sk|pk|rk|gsk|xai|fw|r8|key|llm0|tgp|AKIA|ASIA)[-_][\w*-]{6,}/g,
  /\bAIza[\w-]{10,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{12,}/g,
  /\b(?:Bearer|Basic)\s+[\w.~+/=*-]{6,}/gi,
  /\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]+)?/g,
];
const URL_USER = /\/\/[^/\s@]+@/g;
const URL_QUERY_SECRET = /([?&](?:key|api[-_]?key|token|signature|sig|access_token)=)[^&\s"']+/gi;
const SPACES = /\s+/g;

/** A vendor's own words, safe to show: one line, bounded, without credentials. */
export function redactMessage(message: string): string {
  let text = message.slice(0, 4 * MAX_CHARACTERS);
  for (const secret of SECRETS) text = text.replace(secret, '***');
  text = text.replace(URL_USER, '//***@').replace(URL_QUERY_SECRET, '$1***').replace(SPACES, ' ').trim();
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
