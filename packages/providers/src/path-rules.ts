/** One part of a path: no slash, dot segment or parameter hides in it, however it is encoded. */
const PART = String.raw`(?!\.{1,2}(?:\/|$))(?:[^/%;\\]|%(?!2[5EeFf]|3[Bb]|5[Cc])[0-9A-Fa-f]{2})+`;
const RULE =
  /^(?:GET|HEAD|POST|PUT|PATCH|DELETE) (?=\/.)(?:\/(?:\*|(?!\.{1,2}(?:\/|$))[\w.~:@!$&'()+,=-]+))*(?:\/\*\*)?$/;

/** A method and the paths it may be used on. */
export type PathRule = (method: string, path: string) => boolean;

/** A rule as an operator writes it: `POST /v1/files`, `GET /v1/files/*` (one part), `DELETE /v1/files/**` (all that follow). */
export function readPathRule(text: string): PathRule | undefined {
  if (!RULE.test(text)) return undefined;
  const [method = '', path = ''] = text.split(' ');
  const parts = path.slice(1).split('/').map(patternOf);
  const pattern = new RegExp(`^/${parts.join('/')}$`);
  return (asked, at) => asked === method && pattern.test(at);
}

function patternOf(part: string): string {
  if (part === '**') return `${PART}(?:/${PART})*`;
  return part === '*' ? PART : part.replace(/[.$()+]/g, String.raw`\$&`);
}

const known = new Map<string, PathRule>();

/** True if a rule matches the method and path; an invalid rule matches nothing. */
export function allowsPath(rules: readonly string[], method: string, path: string): boolean {
  return rules.some((text) => known.getOrInsertComputed(text, () => readPathRule(text) ?? (() => false))(method, path));
}
