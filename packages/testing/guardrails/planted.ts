import type { JsonValue } from '@llm0/core/chat/json';

/** Things that may not be carried out; none is anybody's. */
export const SECRETS = ['ann@example.com', '4111 1111 1111 1111', 'sk-proj-abcdefghijklmnop1234'] as const;
export const PLANTED = `Ask ${SECRETS[0]} with ${SECRETS[1]} and ${SECRETS[2]}, (please).`;
export const REDACTED = 'Ask [EMAIL] with [CARD] and [API_KEY], (please).';
/** Nothing of it may be changed. */
export const CLEAN = 'Grüße: "x" <b> & {1} \\ 12:30, 3.14 – naïve 👩‍👩‍👧 a@b, 4111 1111.\n';

/** Arguments of a tool that say it: as models write them, some characters as escapes. */
export function argumentsOf(text: string): string {
  const escaped = JSON.stringify({ text, more: { list: [text] } });
  return escaped
    .replaceAll('@', '\\u0040')
    .replaceAll('sk-', '\\u0073k\\u002d')
    .replaceAll('4111 ', '\\u00341\\u00311 ');
}

const TEXT_NAMES =
  /^(?:content|text|delta|thinking|reasoning_content|reasoning|refusal|arguments|partial_json|output_text|input|args|prompt|message)$/;

/** What a caller (or a vendor) can put together from a body: each text by itself, and the pieces of each kind as one. */
export function saidIn(body: string): string {
  const values = readValues(body);
  const single: string[] = [];
  const joined = new Map<string, string>();
  const walk = (value: JsonValue | undefined, name: string): void => {
    if (typeof value === 'string') {
      single.push(value);
      if (TEXT_NAMES.test(name)) joined.set(name, (joined.get(name) ?? '') + value);
    } else if (Array.isArray(value)) for (const one of value) walk(one, name);
    else if (value !== null && typeof value === 'object') {
      for (const [key, one] of Object.entries(value)) {
        single.push(key);
        walk(one, key);
      }
    } else if (typeof value === 'number') single.push(String(value));
  };
  for (const value of values) walk(value, '');
  const all = [...single, ...joined.values()];
  return [...all, ...all.map(withoutEscapes)].join('\n');
}

/** All JSON values of a plain answer or a stream. */
export function readValues(body: string): JsonValue[] {
  const lines = body.split(/\r?\n/).flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : []));
  const texts = lines.length === 0 ? [body] : lines.filter((line) => line !== '[DONE]' && line !== '');
  return texts.map((text) => JSON.parse(text) as JsonValue);
}

const withoutEscapes = (text: string) =>
  text.replace(/\\u([0-9a-fA-F]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

export const leaksIn = (body: string): readonly string[] => {
  const said = `${saidIn(body)}\n${body}`;
  return SECRETS.filter((secret) => said.includes(secret) || said.includes(secret.replaceAll(' ', '')));
};
