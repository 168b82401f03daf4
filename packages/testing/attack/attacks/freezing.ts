// Texts that are the worst case of an expression or a scan, in every place that takes a text.
import type { Attack, AttackContext } from '../attack';
import { API_NAMES, APIS, type Api, ask, fill, MAY_PASS_THROUGH, MEGABYTE } from './ask-with';

/** A hundred thousand spaces behind one word were seen to stop everything for seconds. */
const SPACES = 100_000;
const HEADER_LENGTH = 12_000;
const PATH_LENGTH = 14_000;

const PIECES: readonly string[] = [
  ...[' ', '\t', '\n', 'bearer ', 'basic\t\t', 'sk-', 'sk-a*', 'key-', 'eyJaaaaaaaaaa-', 'eyJaaaaaaaaaa.'],
  ...['a://', 'a:b', '?key=', '&api-key', 'AKIAA', '_', '*', '-', '.', '/', '//', ':', '[', '](', '`', '"', '\\'],
  ...['\u0000', '\u200b', 'e\u0301', '\ud83d\ude00', '1', '1,', '1.', '0x', '-1-', 'A', 'Aa ', '<|', '{{', '%25', '%'],
];
const WORST = (length: number): readonly string[] => [
  `openai/bearer${' '.repeat(length)}`,
  `a://${'b'.repeat(length)}`,
  `AKIA${'A'.repeat(length)}_`,
  ...PIECES.map((piece) => fill(piece, length)),
];

/** Where a text stands in a chat request. */
const PLACES: Readonly<Record<string, (text: string) => object>> = {
  'the model': (text) => ({ model: text }),
  'a model behind its provider': (text) => ({ model: `openai/${text}` }),
  'a role': (text) => ({ messages: [{ role: text, content: 'x' }] }),
  'a name': (text) => ({ messages: [{ role: 'user', name: text, content: 'x' }] }),
  'a part of a message': (text) => ({ messages: [{ role: 'user', content: [{ type: 'text', text }] }] }),
  'a type of part': (text) => ({ messages: [{ role: 'user', content: [{ type: text, text: 'x' }] }] }),
  'an image’s address': (text) => ({
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: text } }] }],
  }),
  'an image’s data': (text) => ({
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${text}` } }] }],
  }),
  'arguments of a call': (text) => ({
    messages: [
      { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: text } }] },
      { role: 'tool', tool_call_id: 'a', content: 'x' },
    ],
  }),
  'a tool’s name': (text) => ({ tools: [{ type: 'function', function: { name: text, parameters: {} } }] }),
  'a tool’s schema': (text) => ({
    tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', pattern: text } } }],
  }),
  'a stop sequence': (text) => ({ stop: [text] }),
  'a name of a field': (text) => ({ [text]: 1 }),
  'the user': (text) => ({ user: text }),
  metadata: (text) => ({ metadata: { [text]: text } }),
  'a response format': (text) => ({
    response_format: { type: 'json_schema', json_schema: { name: text, schema: {} } },
  }),
};

const HEADERS = [
  ...['x-customer-id', 'x-llm0-team', 'idempotency-key', 'cache-control', 'x-request-id', 'content-type', 'accept'],
  ...[
    'x-llm0-cache',
    'x-llm0-cache-ttl',
    'x-llm0-cache-threshold',
    'x-llm0-drop-params',
    'x-llm0-session',
    'user-agent',
  ],
  ...['traceparent', 'x-forwarded-for', 'if-none-match', 'anthropic-version', 'anthropic-beta', 'x-goog-fieldmask'],
  ...['accept-encoding', 'range', 'origin', 'cookie', 'referer', 'host', 'x-api-key', 'forwarded', 'prefer'],
];

const inEveryPlace = async (context: AttackContext, place: (text: string) => object, length: number) => {
  for (const text of WORST(length)) await ask(context, 'chat', 'x', { more: place(text) });
};

/** Admitted, so that it is also hashed, kept and logged. */
const asPrompt = (api: Api): Attack => ({
  name: `worst texts as a prompt: ${api}`,
  ...{ profiles: ['plain', 'bodies'], perMinute: 1_000, project: MAY_PASS_THROUGH },
  play: async (context) => {
    for (const text of WORST(MEGABYTE)) await ask(context, api, text);
  },
});

export const FREEZING: readonly Attack[] = [
  {
    name: 'openai/bearer and 100 kB of spaces',
    profiles: ['plain', 'bodies'],
    play: async (context) => {
      const text = `openai/bearer${' '.repeat(SPACES)}`;
      for (const api of API_NAMES) await ask(context, api, text, { more: { model: text } });
    },
  },
  ...Object.entries(PLACES).map(
    ([place, build]): Attack => ({
      name: `worst texts as ${place}`,
      ...{ profiles: ['plain', 'bodies'], perMinute: 1_000 },
      play: (context) => inEveryPlace(context, build, MEGABYTE / 4),
    }),
  ),
  ...API_NAMES.map(asPrompt),
  {
    name: 'worst texts as headers',
    perMinute: 1_000,
    play: async ({ send }) => {
      const { path, body } = APIS.chat('x');
      for (const name of HEADERS) {
        for (const text of WORST(HEADER_LENGTH)) {
          const value = text.replace(/[^\x21-\x7e]+/g, ' ').trim() || 'x';
          await send(path, { body, headers: { [name]: value } });
        }
      }
    },
  },
  {
    name: 'worst texts as credentials',
    play: async ({ send }) => {
      for (const text of WORST(HEADER_LENGTH)) {
        const value = text.replace(/[^\x21-\x7e]+/g, ' ').trim() || 'x';
        for (const name of ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key']) {
          await send('/v1/models', { headers: { [name]: `Bearer ${value}` } });
        }
      }
    },
  },
  {
    name: 'worst texts as paths and queries',
    play: async ({ send }) => {
      const heads = ['/v1/models/', '/v1/responses/', '/v1beta/models/', '/passthrough/', '/', '/v1/models?limit='];
      for (const head of heads) {
        for (const text of WORST(PATH_LENGTH / 3)) await send(head + encodeURIComponent(text.toWellFormed()));
      }
    },
  },
  {
    name: 'a name of a megabyte in a header, and a path of one',
    play: async ({ send }) => {
      const long = 'a'.repeat(MEGABYTE);
      await send('/v1/chat/completions', { body: APIS.chat('x').body, headers: { 'x-customer-id': long } });
      await send(`/v1/models/${long}`);
      await send('/v1/models', { headers: { authorization: `Bearer ${long}` } });
    },
  },
];
