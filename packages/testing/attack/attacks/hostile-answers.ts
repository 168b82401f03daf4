// What a vendor, or whoever stands in its place, may answer.
import {
  bomb,
  poursForth,
  raw,
  refuses,
  says,
  speaks,
  stopsAfter,
  streamedBomb,
  tellsUsage,
  trickles,
  tricklesBody,
} from '../answers';
import type { Attack, AttackContext } from '../attack';
import type { HostileAnswer } from '../hostile-upstream';
import { type Api, ask, fill, MAY_PASS_THROUGH, MEGABYTE } from './ask-with';

const CHATS = [
  'chat',
  'messages',
  'responses',
  'completions',
  'gemini',
  'passthrough',
] as const satisfies readonly Api[];
const DEEP = 5 * MEGABYTE;
const nested = (open: string, close: string) =>
  open.repeat(DEEP / open.length) + (open === '[' ? '' : '1') + close.repeat(DEEP / open.length);
const event = (data: string) => `data: ${data}\n\n`;
const chunk = (text: string) => event(JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] }));
const header = (size: number) => ({ 'x-long': 'a'.repeat(size) });

/** Answers by name, each made when it is played: some are large. */
type Answers = Readonly<Record<string, () => HostileAnswer>>;
/** These wait for time-outs. */
const LONG = new Set(['a byte at a time', 'nothing more']);

/** Answers to requests for a stream. */
const STREAMS: Answers = {
  'a line without an end': () => poursForth(fill('a', 100_000), 200 * MEGABYTE),
  'an event without an end': () => poursForth(`data: ${fill('a', 10_000)}\n`, 200 * MEGABYTE),
  'empty events': () => poursForth(fill('data: {}\n\n', 100_000), 50 * MEGABYTE),
  'empty lines': () => poursForth(fill('\n', 100_000), 50 * MEGABYTE),
  comments: () => poursForth(fill(': a\n\n', 100_000), 50 * MEGABYTE),
  'names of events': () => poursForth(fill('event: a\n', 100_000), 50 * MEGABYTE),
  'a stream of 200 MB': () => poursForth(chunk(fill('word ', 50_000)), 200 * MEGABYTE),
  'a stream of 50 MB in tiny events': () => poursForth(fill(chunk('a'), 64_000), 50 * MEGABYTE),
  'calls of tools without an end': () =>
    poursForth(
      event(
        JSON.stringify({
          choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: fill('{"a":', 10_000) } }] } }],
        }),
      ),
      200 * MEGABYTE,
    ),
  'calls of a million tools': () =>
    poursForth(
      event(
        JSON.stringify({
          choices: [
            {
              delta: {
                tool_calls: Array.from({ length: 500 }, (_, i) => ({
                  index: i * 1_000_003,
                  id: 'a',
                  function: { name: 'f', arguments: '{}' },
                })),
              },
            },
          ],
        }),
      ),
      50 * MEGABYTE,
    ),
  'deep JSON in an event': () => poursForth(event(nested('{"a":', '}')), 2 * DEEP),
  'a compressed stream of 600 MB': () => streamedBomb(600),
  'a byte at a time': () => trickles(200),
  'nothing more': () => stopsAfter(3, 'hang'),
  'an end in the middle': () => stopsAfter(5, 'end'),
  'a break in the middle': () => stopsAfter(5, 'destroy'),
};

/** Answers to plain requests. */
const BODIES: Answers = {
  '600 MB in 600 kB of gzip': () => bomb(600),
  'deep brackets': () => says(nested('[', ']')),
  'deep objects': () => says(nested('{"a":', '}')),
  'a wide list': () => says(`{"choices":[${fill('{},', DEEP)}{}]}`),
  '100 MB of text': () => says(JSON.stringify({ choices: [{ message: { content: fill('word ', 100 * MEGABYTE) } }] })),
  'an HTML page': () => says('<html>no</html>', { 'content-type': 'text/html' }),
  'bytes of another type': () => says(new Uint8Array(MEGABYTE).fill(255), { 'content-type': 'image/png' }),
  'no JSON': () => says('{"choices":['),
  null: () => says('null'),
  'a list': () => says('[]'),
  'fields of other types': () => says('{"choices":"a","usage":[],"model":{},"id":null}'),
  'broken gzip': () => says('no gzip', { 'content-encoding': 'gzip' }),
  'an unknown encoding': () => says('{}', { 'content-encoding': 'exi' }),
  'a header of 1 MB': () => says('{}', header(MEGABYTE)),
  'a byte at a time': () => tricklesBody(200),
  'a body shorter than it says': () => speaks('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{}'),
  'no status line': () => speaks('hello\r\n\r\n'),
  'a status of words': () => speaks('HTTP/1.1 OK 200\r\n\r\n{}'),
  'a status of 99': () => speaks('HTTP/1.1 99 No\r\ncontent-length: 2\r\n\r\n{}'),
  'a status of 999': () => speaks('HTTP/1.1 999 No\r\ncontent-length: 2\r\n\r\n{}'),
  'headers without an end': () => speaks(`HTTP/1.1 200 OK\r\n${fill('a: b\r\n', 5 * MEGABYTE)}`),
  'hints without an end': () => speaks(fill('HTTP/1.1 103 Early Hints\r\n\r\n', MEGABYTE)),
  'a redirect to the cloud’s metadata': () =>
    refuses('302 Found', '', { location: 'http://169.254.169.254/latest/meta-data/' }),
  'a redirect without an end': () => refuses('307 Temporary Redirect', '', { location: '/v1/chat/completions' }),
  'an error of 20 MB': () =>
    refuses('400 Bad Request', JSON.stringify({ error: { message: fill('bearer ', 20 * MEGABYTE) } })),
  'an error of worst texts': () =>
    refuses('400 Bad Request', JSON.stringify({ error: { message: `bearer${' '.repeat(MEGABYTE)}` } })),
  'a wait of a thousand years': () => refuses('429 Too Many Requests', '{}', { 'retry-after': '99999999999999' }),
  'a wait of less than nothing': () => refuses('429 Too Many Requests', '{}', { 'retry-after': '-5' }),
};

/** Usage as no honest vendor tells it; the work was done all the same. */
const USAGES: Readonly<Record<string, unknown>> = {
  'less than nothing': {
    prompt_tokens: -1e9,
    completion_tokens: -1e9,
    input_tokens: -1e9,
    output_tokens: -1e9,
    promptTokenCount: -1e9,
    candidatesTokenCount: -1e9,
  },
  'not a number': { prompt_tokens: raw('NaN'), completion_tokens: raw('NaN'), input_tokens: raw('NaN') },
  'beyond all numbers': {
    prompt_tokens: raw('1e999'),
    completion_tokens: raw('1e999'),
    input_tokens: raw('1e999'),
    output_tokens: raw('1e999'),
    promptTokenCount: raw('1e999'),
  },
  huge: {
    prompt_tokens: 2 ** 53,
    completion_tokens: 2 ** 53,
    input_tokens: 2 ** 53,
    output_tokens: 2 ** 53,
    promptTokenCount: 2 ** 53,
  },
  texts: {
    prompt_tokens: '10',
    completion_tokens: '20',
    input_tokens: '10',
    output_tokens: '20',
    promptTokenCount: '10',
  },
  fractions: {
    prompt_tokens: 0.1,
    completion_tokens: 0.1,
    input_tokens: 0.1,
    output_tokens: 0.1,
    promptTokenCount: 0.1,
  },
  'all of it cached, and more': {
    prompt_tokens: 10,
    completion_tokens: 20,
    prompt_tokens_details: { cached_tokens: 1e9 },
    input_tokens: 10,
    output_tokens: 20,
    cache_read_input_tokens: -1e9,
  },
  'reasoning beyond what was made': {
    prompt_tokens: 10_000,
    completion_tokens: 20,
    completion_tokens_details: { reasoning_tokens: -1e6 },
    input_tokens: 10_000,
    output_tokens: 20,
  },
  'a list': [],
  nothing: null,
  'names alone': {},
};

const asksAll =
  (more: object, leaveAfterMs: number) =>
  async (context: AttackContext): Promise<void> => {
    for (const api of CHATS) {
      if (!isStreamed(more)) await ask(context, api, 'x', { more, leaveAfterMs });
      else if (api === 'gemini') await context.send(GEMINI_STREAM, { body: GEMINI_BODY, leaveAfterMs });
      else await ask(context, api, 'x', { more, leaveAfterMs });
    }
  };
const isStreamed = (more: object) => 'stream' in more;
const GEMINI_STREAM = '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse';
const GEMINI_BODY = { contents: [{ role: 'user', parts: [{ text: 'x' }] }] };
const LEAVE_MS = 4_000;
const SETTINGS = { perMinute: 100, project: { ...MAY_PASS_THROUGH, cache_enabled: false } } as const;

const attacks = (head: string, answers: Answers, more: object): readonly Attack[] =>
  Object.entries(answers).map(([name, answer]) => ({
    name: `${head} ${name}`,
    ...{ ...SETTINGS, answer, play: asksAll(more, LEAVE_MS) },
    ...(LONG.has(name) ? { isLong: true as const } : {}),
  }));
const LIES: Answers = Object.fromEntries(
  Object.entries(USAGES).map(([name, usage]) => [name, () => tellsUsage(usage)]),
);

export const HOSTILE_ANSWERS: readonly Attack[] = [
  ...attacks('a vendor streams', STREAMS, { stream: true }),
  ...attacks('a vendor answers', BODIES, {}),
  ...attacks('a vendor streams, and answers', BODIES, { stream: true }),
  ...attacks('the usage a vendor tells is', LIES, {}),
  ...attacks('the usage a vendor streams is', LIES, { stream: true }),
  {
    name: 'embeddings that are no vectors',
    ...SETTINGS,
    answer: () =>
      says(
        JSON.stringify({
          data: [
            { index: -1, embedding: 'x' },
            { index: 1e9, embedding: [null] },
          ],
          usage: 7,
        }),
      ),
    play: async (context) => {
      await ask(context, 'embeddings', 'x');
      await ask(context, 'embeddings', 'y', { more: { encoding_format: 'base64' } });
    },
  },
  {
    name: 'embeddings of 100 MB',
    ...SETTINGS,
    answer: () => says(JSON.stringify({ data: [{ index: 0, embedding: [0] }], x: fill('1', 100 * MEGABYTE) })),
    play: async (context) => {
      await ask(context, 'embeddings', 'x');
    },
  },
];
