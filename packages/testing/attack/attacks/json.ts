// JSON that costs more to read than to send.
import type { Attack } from '../attack';
import { APIS, type Api, ask, fill, MAY_PASS_THROUGH } from './ask-with';

const SIZE = 19 * 1024 * 1024;
const MOST_TOKENS = 200_000;

const nested = (open: string, close: string, size: number) => {
  const depth = Math.floor(size / (open.length + close.length));
  return open.repeat(depth) + (open === '[' ? '' : '1') + close.repeat(depth);
};
const keys = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":0`).join(',')}}`;

/** JSON texts of one value. Each is made when it is sent. */
const VALUES: Readonly<Record<string, () => string>> = {
  brackets: () => nested('[', ']', SIZE),
  'open brackets alone': () => '['.repeat(SIZE),
  'objects in objects': () => nested('{"a":', '}', SIZE),
  'mixed depth': () => nested('[{"a":', '}]', SIZE),
  'a row of zeros': () => `[${fill('0,', SIZE)}0]`,
  'a row of empty objects': () => `[${fill('{},', SIZE)}0]`,
  'a row of empty texts': () => `[${fill('"",', SIZE)}0]`,
  'a million names': () => keys(1_000_000),
  'the same name again and again': () => `{${fill('"a":0,', SIZE)}"a":0}`,
  'one endless number': () => '1'.repeat(SIZE),
  'endless digits behind the point': () => `0.${'1'.repeat(SIZE)}`,
  'an endless exponent': () => `1e${'9'.repeat(SIZE)}`,
  escapes: () => `"${fill('\\u0041', SIZE)}"`,
  'half characters': () => `"${fill('\\ud800', SIZE)}"`,
  quotes: () => `"${fill('\\"', SIZE)}"`,
  space: () => `${' '.repeat(SIZE)}1`,
  'one endless name': () => `{"${'a'.repeat(SIZE)}":1}`,
  'a text without an end': () => `"${'a'.repeat(SIZE)}`,
  'more tokens than are read': () => `[${fill('1,', 2 * MOST_TOKENS)}1]`,
};

/** Field of each API that takes anything. */
const FIELDS: Readonly<Record<Api, string>> = {
  chat: 'messages',
  completions: 'prompt',
  messages: 'messages',
  responses: 'input',
  embeddings: 'input',
  gemini: 'contents',
  count: 'messages',
  passthrough: 'messages',
};

/** The request with one field's JSON in other words. */
function withField(api: Api, json: string): string {
  const { [FIELDS[api]]: _left, ...rest } = APIS[api]('x').body;
  const head = JSON.stringify(rest).slice(0, -1);
  return `${head}${head === '{' ? '' : ','}"${FIELDS[api]}":${json}}`;
}

export const JSON_ATTACKS: readonly Attack[] = [
  ...Object.entries(VALUES).map(
    ([name, make]): Attack => ({
      name: `19 MiB of JSON: ${name}`,
      profiles: ['plain'],
      play: async ({ send }) => {
        await send(APIS.chat('x').path, { body: withField('chat', make()) });
        await send(APIS.messages('x').path, { body: make() });
      },
    }),
  ),
  ...(['completions', 'messages', 'responses', 'embeddings', 'gemini', 'count', 'passthrough'] as const).map(
    (api): Attack => ({
      name: `19 MiB of JSON: ${api}`,
      ...{ project: MAY_PASS_THROUGH, perMinute: 100 },
      play: async ({ send }) => {
        for (const name of ['brackets', 'objects in objects', 'a row of zeros', 'a million names']) {
          await send(APIS[api]('x').path, { body: withField(api, VALUES[name]?.() ?? '') });
        }
      },
    }),
  ),
  {
    name: 'JSON that is read again: arguments of a call',
    ...{ profiles: ['plain', 'bodies'], perMinute: 100 },
    play: async (context) => {
      for (const text of [nested('[', ']', SIZE / 4), nested('{"a":', '}', SIZE / 4), keys(MOST_TOKENS)]) {
        const calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: text } }];
        const messages = [
          { role: 'user', content: 'x' },
          { role: 'assistant', tool_calls: calls },
          { role: 'tool', tool_call_id: 'a', content: text },
        ];
        await ask(context, 'chat', 'x', { more: { messages, model: 'claude-haiku-4-5' } });
        await ask(context, 'chat', 'x', { more: { messages, model: 'gemini-2.5-flash' } });
      }
    },
  },
  {
    name: 'JSON with an odd mark, charset or encoding',
    play: async ({ send }) => {
      const text = JSON.stringify(APIS.chat('x').body);
      const { path } = APIS.chat('x');
      await send(path, { body: `\ufeff${text}` });
      await send(path, {
        body: Buffer.from(text, 'utf16le'),
        headers: { 'content-type': 'application/json; charset=utf-16' },
      });
      await send(path, { body: Bun.gzipSync(Buffer.from(text)), headers: { 'content-encoding': 'gzip' } });
      await send(path, { body: Bun.gzipSync(new Uint8Array(SIZE * 10)), headers: { 'content-encoding': 'gzip' } });
      await send(path, { body: text, headers: { 'content-encoding': 'br, gzip, deflate, zstd' } });
      await send(path, { body: text, headers: { 'content-type': 'multipart/form-data; boundary=a' } });
    },
  },
];
