// Streams whose caller speaks their vendor's own format: guarded, they still say all, once, in its order.
import { afterEach, describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import type { GuardrailRule } from '@llm0/core/guardrails/policy';
import { encodeSse } from '@llm0/core/sse/encode-sse';
import { anthropic } from '@llm0/providers/anthropic/index';
import { openai } from '@llm0/providers/openai/index';
import type { Provider } from '@llm0/providers/provider';
import { anthropicMessages } from '../../dialects/anthropic-messages/index';
import type { Dialect } from '../../dialects/dialect';
import { openaiResponses } from '../../dialects/openai-responses/index';
import { handleChat } from '../chat/handle-chat';
import { MODEL, openPipeline, type Pipeline, SECRET } from '../open-pipeline.fixture';

type Payload = JsonObject;
type Mode = 'off' | 'shadow' | 'flag' | 'redact';

let pipeline: Pipeline;
afterEach(() => pipeline.close());

const GAPS = [
  ['at once', 0],
  ['piece by piece', 1],
] as const;

/** The vendor's events as the caller gets them; each sent by itself where there is a gap. */
async function pass(given: readonly Payload[], mode: Mode, gapMs: number, speaks: Speaker): Promise<Payload[]> {
  await openUnder(mode, speaks);
  pipeline.world.scripts = [() => streamOf(given, gapMs)];
  const response = await ask(speaks);
  expect(response.status).toBe(200);
  return payloadsOf(response);
}

async function openUnder(mode: Mode, speaks: Speaker): Promise<void> {
  const action = mode === 'flag' ? 'flag' : 'redact';
  const rule: GuardrailRule = { name: 'mail', on: 'both', check: { type: 'pii' }, action, onError: 'block' };
  const policyMode = mode === 'flag' || mode === 'redact' ? 'enforce' : mode;
  pipeline = await openPipeline({
    policy: { mode: policyMode, rules: [rule], pseudonymScope: 'request', version: 1 },
  });
  const connection = { baseUrl: 'http://upstream.test/v1', apiKey: 'k' };
  Object.assign(pipeline.services, { connect: () => ({ provider: speaks.provider, connection }) });
}

function ask({ dialect, body }: Speaker): Promise<Response> {
  const request = new Request('http://gateway.test/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: `Bearer ${SECRET}`, 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({ model: MODEL, stream: true, ...body }),
  });
  return handleChat(pipeline.services, dialect, request);
}

const payloadsOf = async (response: Response): Promise<Payload[]> =>
  [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as Payload);

function streamOf(given: readonly Payload[], gapMs: number): Response {
  const texts = given.map((one) => encodeSse(JSON.stringify(one), String(one.type)));
  const chunks = gapMs === 0 ? [texts.join('')] : texts;
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const next = chunks.shift();
      if (next === undefined) return controller.close();
      await Bun.sleep(gapMs);
      controller.enqueue(new TextEncoder().encode(next));
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

interface Speaker {
  readonly dialect: Dialect;
  readonly provider: Provider;
  readonly body: object;
}

const MESSAGES: Speaker = {
  ...{ dialect: anthropicMessages, provider: anthropic },
  body: { max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] },
};
const THINKING: Speaker = {
  ...MESSAGES,
  body: { ...MESSAGES.body, max_tokens: 2048, thinking: { type: 'enabled', budget_tokens: 1024 } },
};
const RESPONSES: Speaker = { dialect: openaiResponses, provider: openai, body: { input: 'Hi' } };

/** Blocks of a message, as a stream tells them. */
function messageOf(blocks: readonly (readonly [block: JsonObject, deltas: readonly JsonObject[]])[]): Payload[] {
  const usage = { input_tokens: 1, output_tokens: 2 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: MODEL, content: [], stop_reason: null };
  return [
    { type: 'message_start', message: { ...message, stop_sequence: null, usage } },
    ...blocks.flatMap(([content_block, deltas], index): Payload[] => [
      { type: 'content_block_start', index, content_block },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ];
}

/** What a client of the Messages format makes of a stream; throws where a block is told twice or out of order. */
function blocksOf(payloads: readonly Payload[]): JsonObject[] {
  const blocks: JsonObject[] = [];
  let open = false;
  for (const { type, index, content_block, delta } of payloads as Record<string, JsonObject>[]) {
    const kind = String(type);
    if (kind === 'content_block_start') {
      expect([open, Number(index)]).toEqual([false, blocks.length]);
      blocks.push({ ...content_block });
      open = true;
    } else if (kind === 'content_block_delta') {
      expect([open, Number(index)]).toEqual([true, blocks.length - 1]);
      const block = blocks.at(-1) as JsonObject;
      const { text, partial_json, citation } = delta as JsonObject;
      if (text !== undefined) block.text = `${block.text}${text}`;
      if (partial_json !== undefined) block.json = `${block.json ?? ''}${partial_json}`;
      if (citation !== undefined) block.citations = [...((block.citations as JsonObject[]) ?? []), citation];
    } else if (kind === 'content_block_stop') open = false;
  }
  return blocks;
}

const text = (...pieces: string[]) =>
  [{ type: 'text', text: '' }, pieces.map((piece) => ({ type: 'text_delta', text: piece }))] as const;
const CITATION = { type: 'web_search_result_location', cited_text: 'c', url: 'https://example.com/a', title: 'T' };
const RESULT = { type: 'web_search_result', url: 'https://example.com/a', title: 'T', encrypted_content: 'QUJD' };
const SEARCH = messageOf([
  text('I will ', 'search.'),
  [
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
    [{ type: 'input_json_delta', partial_json: '{"query":"x"}' }],
  ],
  [{ type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [RESULT] }, []],
  text('Based on it, '),
  [
    { type: 'text', text: '', citations: [] },
    [
      { type: 'citations_delta', citation: CITATION },
      { type: 'text_delta', text: 'Paris is the capital' },
    ],
  ],
  text('. More at the end'),
]);
const CITED_LATE = messageOf([
  [
    { type: 'text', text: '' },
    [
      { type: 'text_delta', text: 'Paris is ' },
      { type: 'text_delta', text: 'it' },
      { type: 'citations_delta', citation: CITATION },
    ],
  ],
]);
const CALL_AND_TEXT = messageOf([
  [
    { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
    [{ type: 'input_json_delta', partial_json: '{"a":"b c"}' }],
  ],
  text('And ', 'now this'),
]);

describe.each(GAPS)('/v1/messages, %s', (_name, gapMs) => {
  const streams: readonly (readonly [string, readonly Payload[]])[] = [
    ['two texts', messageOf([text('hello there '), text('bob, thanks')])],
    ['one text', messageOf([text('hello ', 'there bob')])],
    ['a search', SEARCH],
    ['a late citation', CITED_LATE],
    ['a call ahead of a text', CALL_AND_TEXT],
  ];
  for (const [name, given] of streams) {
    test.each(['shadow', 'flag'] as const)(`${name}: %s changes nothing at all`, async (mode) => {
      const passed = await pass(given, mode, gapMs, MESSAGES);
      expect(passed.slice(0, -1)).toEqual(given.slice(0, -1));
    });
    test(`${name}: rules that act keep each block, once, in its place`, async () => {
      expect(blocksOf(await pass(given, 'redact', gapMs, MESSAGES))).toEqual(blocksOf(given));
    });
  }

  test('findings are replaced per block', async () => {
    const given = messageOf([text('ask ann@exam', 'ple.com '), text('or bob@example.com, thanks')]);
    const passed = await pass(given, 'redact', gapMs, MESSAGES);
    expect(blocksOf(passed).map((block) => block.text)).toEqual(['ask [EMAIL] ', 'or [EMAIL], thanks']);
  });
});

const ANNOTATION = { type: 'url_citation', start_index: 0, end_index: 5, url: 'https://example.com', title: 'T' };
/** What a model thought, with a summary of several parts. */
const THOUGHT = {
  ...{ id: 'rs_1', type: 'reasoning', encrypted_content: 'gAAAA'.repeat(20) },
  summary: ['**Look** at it twice', 'Then write to ann'].map((text) => ({ type: 'summary_text', text })),
};
const REASONING = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'QUJDREVGR0g' };

/** One message behind other items, as a stream tells it. */
function responseOf(
  before: readonly JsonObject[],
  pieces: readonly string[],
  annotations: JsonObject[] = [],
): Payload[] {
  const at = before.length;
  const part = { type: 'output_text', text: pieces.join(''), annotations, logprobs: [] };
  const message = { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content: [part] };
  const place = { item_id: 'msg_1', output_index: at, content_index: 0 };
  const base = { id: 'resp_1', object: 'response', created_at: 1, model: MODEL, status: 'in_progress', output: [] };
  const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };
  const payloads: Payload[] = [
    { type: 'response.created', response: base },
    { type: 'response.in_progress', response: base },
    ...before.flatMap((item, output_index): Payload[] => [
      { type: 'response.output_item.added', output_index, item: beginningOf(item) },
      ...summaryOf(item, output_index),
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: 'response.output_item.added', output_index: at, item: { ...message, status: 'in_progress', content: [] } },
    { type: 'response.content_part.added', ...place, part: { ...part, text: '', annotations: [] } },
    ...pieces.map((delta) => ({ type: 'response.output_text.delta', ...place, delta, logprobs: [] })),
    ...annotations.map((annotation, annotation_index) => ({
      ...{ type: 'response.output_text.annotation.added', ...place, annotation_index, annotation },
    })),
    { type: 'response.output_text.done', ...place, text: part.text, logprobs: [] },
    { type: 'response.content_part.done', ...place, part },
    { type: 'response.output_item.done', output_index: at, item: message },
    { type: 'response.completed', response: { ...base, status: 'completed', output: [...before, message], usage } },
  ];
  return payloads.map((payload, sequence_number) => ({ ...payload, sequence_number }));
}

const beginningOf = (item: JsonObject): JsonObject => ({
  ...{ ...item, status: 'in_progress' },
  ...(item.type === 'reasoning' ? { summary: [] } : {}),
});

/** The parts of a thought's summary, each told a few characters at a time. */
function summaryOf({ id, summary }: JsonObject, output_index: number): Payload[] {
  const parts = Array.isArray(summary) ? (summary as { text: string }[]) : [];
  return parts.flatMap(({ text }, summary_index): Payload[] => {
    const place = { item_id: id ?? '', output_index, summary_index };
    const part = { type: 'summary_text', text: '' };
    return [
      { type: 'response.reasoning_summary_part.added', ...place, part },
      ...(text.match(/.{1,4}/gs) ?? []).map((delta) => ({
        ...{ type: 'response.reasoning_summary_text.delta', ...place, delta },
      })),
      { type: 'response.reasoning_summary_text.done', ...place, text },
      { type: 'response.reasoning_summary_part.done', ...place, part: { ...part, text } },
    ];
  });
}

/** What a client of the Responses format reads: pieces of text by item, and the items at the end. */
function readResponse(payloads: readonly Payload[]) {
  const said: Record<string, string> = {};
  const begun: unknown[] = [];
  const ended: unknown[] = [];
  let annotations = 0;
  const thought: Record<string, string> = {};
  const parts: unknown[] = [];
  for (const { type, output_index, summary_index, delta, item, part, item_id } of payloads) {
    const place = `${output_index} ${summary_index}`;
    if (type === 'response.reasoning_summary_text.delta') thought[place] = `${thought[place] ?? ''}${delta}`;
    if (type === 'response.reasoning_summary_part.done') parts.push([place, item_id, part]);
    if (type === 'response.output_text.delta')
      said[String(output_index)] = `${said[String(output_index)] ?? ''}${delta}`;
    if (type === 'response.output_item.added') begun.push([output_index, (item as JsonObject).type]);
    if (type === 'response.output_item.done') ended.push(withoutId(item as JsonObject));
    if (type === 'response.output_text.annotation.added') annotations += 1;
  }
  const { output = [] } = (payloads.at(-1)?.response ?? {}) as JsonObject;
  return { said, thought, parts, begun, ended, annotations, output: (output as JsonObject[]).map(withoutId) };
}

const withoutId = ({ id: _id, ...item }: JsonObject): JsonObject => item;

const byType = (one: unknown, other: unknown): number =>
  String((one as JsonObject).type).localeCompare(String((other as JsonObject).type));

describe.each(GAPS)('/v1/responses, %s', (_name, gapMs) => {
  const items: readonly (readonly [string, readonly JsonObject[], JsonObject[]])[] = [
    ['a message', [], []],
    [
      'a search',
      [{ id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'x' } }],
      [],
    ],
    [
      'a file search',
      [{ id: 'fs_1', type: 'file_search_call', status: 'completed', queries: ['x'], results: null }],
      [],
    ],
    ['code', [{ id: 'ci_1', type: 'code_interpreter_call', status: 'completed', code: '1', container_id: 'c' }], []],
    ['a thought without a summary', [REASONING], []],
    ['a thought in parts', [THOUGHT], []],
    ['two thoughts', [THOUGHT, { ...THOUGHT, id: 'rs_2' }], []],
    ['a thought ahead of an annotation', [THOUGHT], [ANNOTATION]],
    ['an annotation', [], [ANNOTATION]],
    [
      'a search and an annotation',
      [REASONING, { id: 'ws_1', type: 'web_search_call', status: 'completed' }],
      [ANNOTATION],
    ],
  ];
  for (const [name, before, annotations] of items) {
    const given = responseOf(before, ['Paris is the ', 'capital of France'], annotations);
    test.each(['shadow', 'flag'] as const)(`${name}: %s changes nothing at all`, async (mode) => {
      const passed = await pass(given, mode, gapMs, RESPONSES);
      expect(passed.slice(2, -1)).toEqual(given.slice(2, -1));
      expect(readResponse(passed).output).toEqual(readResponse(given).output);
    });
    test(`${name}: rules that act leave the answer whole, and say it once`, async () => {
      const passed = await pass(given, 'redact', gapMs, RESPONSES);
      expect(readResponse(passed)).toEqual(readResponse(given));
      expect(passed.map((one) => one.sequence_number)).toEqual(passed.map((_, index) => index));
    });
  }

  test('an item that only its end tells, ahead of what was told: no text is said twice', async () => {
    const search = { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'x' } };
    const given = responseOf([], ['Paris is the ', 'capital of France']);
    const { response, ...end } = given.at(-1) as { response: { output: JsonObject[] } };
    const told = { ...response, output: [search, ...response.output] };
    const passed = await pass([...given.slice(0, -1), { ...end, response: told }], 'redact', gapMs, RESPONSES);
    const read = readResponse(passed);
    expect(Object.values(read.said)).toEqual(['Paris is the capital of France']);
    expect(read.ended.toSorted(byType)).toEqual(told.output.map(withoutId).toSorted(byType));
    expect(read.output).toEqual(read.ended as JsonObject[]);
  });

  test('findings are replaced in pieces and in the whole', async () => {
    const given = responseOf([], ['ask ann@exam', 'ple.com now, ', 'please'], [ANNOTATION]);
    const passed = await pass(given, 'redact', gapMs, RESPONSES);
    expect(readResponse(passed).said).toEqual({ 0: 'ask [EMAIL] now, please' });
    expect(JSON.stringify(passed)).not.toContain('ann@');
  });
});

/** The kinds and pieces a caller has got by the time its vendor has sent so many of its events, and no more. */
async function gotWhile(given: readonly Payload[], sent: number, speaks: Speaker): Promise<string> {
  const going = Promise.withResolvers<void>();
  const rest = streamOf(given.slice(sent), 0);
  const first = streamOf(given.slice(0, sent), 1);
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      for await (const chunk of first.body ?? []) controller.enqueue(chunk);
      await going.promise;
      for await (const chunk of rest.body ?? []) controller.enqueue(chunk);
      controller.close();
    },
  });
  await openUnder('redact', speaks);
  pipeline.world.scripts = [() => new Response(body, { headers: { 'content-type': 'text/event-stream' } })];
  const response = await ask(speaks);
  const decoder = new TextDecoder();
  let got = '';
  const reader = (response.body ?? new ReadableStream()).getReader();
  for (;;) {
    const next = await Promise.race([reader.read(), Bun.sleep(300)]);
    if (next?.value === undefined) break;
    got += decoder.decode(next.value);
  }
  going.resolve();
  for (let next = await reader.read(); !next.done; next = await reader.read());
  return got;
}

describe('thoughts stream on, up to text that may still match', () => {
  const pieces = ['Paris is the ', 'capital of France, ', 'as you know'];
  const responses = responseOf([THOUGHT], pieces);
  const messages = messageOf([
    [
      { type: 'thinking', thinking: '', signature: '' },
      [
        ...['**Look** at it twice. ', 'Then write to ann. '].map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: 'QUJD'.repeat(30) },
      ],
    ],
    text(...pieces),
  ]);
  const behind = (given: readonly Payload[], part: string) =>
    given.findIndex((one) => JSON.stringify(one).includes(part)) + 1;

  test.each<[string, Speaker, readonly Payload[]]>([
    ['/v1/responses', RESPONSES, responses],
    ['/v1/messages', THINKING, messages],
  ])('%s', async (_name, speaks, given) => {
    const thinking = await gotWhile(given, behind(given, ' ann') - 1, speaks);
    expect(thinking).toContain('**Lo');
    expect(thinking).not.toContain('Paris');
    await pipeline.close();
    const speaking = await gotWhile(given, behind(given, 'capital of France, '), speaks);
    expect(speaking).toContain('capital of ');
    expect(speaking).not.toContain('as you know');
  });

  test('/v1/responses: what is found in it is replaced, in its pieces, its parts and the whole', async () => {
    const summary = ['I ask ann@example.com first', 'bob@example.com'].map((said) => ({
      ...{ type: 'summary_text', text: said },
    }));
    const given = responseOf([{ ...THOUGHT, summary }], ['Done']);
    const passed = await pass(given, 'redact', 1, RESPONSES);
    expect(readResponse(passed).thought).toEqual({ '0 0': 'I ask [EMAIL] first', '0 1': '[EMAIL]' });
    expect(JSON.stringify(passed)).not.toContain('@');
    expect(readResponse(passed).output[0]).toMatchObject({ encrypted_content: THOUGHT.encrypted_content });
  });

  test('/v1/responses: a summary that is only told at its end is whole, and one that is cut off ends as it is', async () => {
    const late = responses.filter(({ type }) => !String(type).startsWith('response.reasoning_summary'));
    const passed = readResponse(await pass(late, 'redact', 1, RESPONSES));
    expect(passed.ended).toEqual(readResponse(responses).ended);
    expect(passed.output).toEqual(readResponse(responses).output);
    await pipeline.close();
    const cut = responses.slice(0, behind(responses, '"it t"'));
    const item = { ...THOUGHT, status: 'incomplete', summary: [{ type: 'summary_text', text: '**Look** at it tw' }] };
    const end = responses.at(-1) as Payload;
    const response = { ...(end.response as JsonObject), status: 'incomplete', output: [item] };
    const given = [...cut, { ...end, type: 'response.incomplete', response }];
    const whole = readResponse(await pass(given, 'redact', 1, RESPONSES));
    expect([cut.length > 6, whole.output]).toEqual([true, [withoutId(item)]]);
    expect(whole.thought).toEqual({ '0 0': '**Look** at it tw' });
    expect(whole.ended).toEqual(whole.output);
  });

  test('/v1/messages: its thought, its signature and the text behind it are whole', async () => {
    const passed = await pass(messages, 'redact', 1, THINKING);
    const of = (member: string) =>
      passed.map(({ delta }) => (delta as JsonObject | undefined)?.[member] ?? '').join('');
    expect([of('thinking'), of('text')]).toEqual(['**Look** at it twice. Then write to ann. ', pieces.join('')]);
    expect(of('signature')).toBe('QUJD'.repeat(30));
  });
});

test.each(['flag', 'shadow', 'redact'] as const)('repeated blocks are noted once: %s', async (mode) => {
  const thought = [
    { type: 'thinking', thinking: '' },
    [
      { type: 'thinking_delta', thinking: 'It is ann@example.org.' },
      { type: 'signature_delta', signature: 'QUJD'.repeat(20) },
    ],
  ] as const;
  for (const gapMs of [0, 1]) {
    await pass(messageOf([thought, text('ask ann@exam'), text('ple.com')]), mode, gapMs, MESSAGES);
    expect((await pipeline.rows())[0]?.guardrails).toMatchObject([{ rule: 'mail', on: 'output', count: 2 }]);
    await pipeline.close();
  }
});

test('shadow notes what it finds in a stream that goes on untouched', async () => {
  await pass(messageOf([text('ask ann@exam', 'ple.com')]), 'shadow', 1, MESSAGES);
  expect((await pipeline.rows())[0]?.guardrails).toMatchObject([
    { rule: 'mail', on: 'output', count: 1, shadow: true },
  ]);
});

test('a kept answer in the vendor’s own blocks is told once', async () => {
  const given = messageOf([text('hello there '), text('bob, thanks')]);
  const speaks = { ...MESSAGES, body: { ...MESSAGES.body, temperature: 0 } };
  expect(blocksOf(await pass(given, 'redact', 0, speaks))).toEqual(blocksOf(given));
  const again = await ask(speaks);
  expect(again.headers.get('x-cache-hit')).toBe('exact');
  expect(blocksOf(await payloadsOf(again))).toEqual(blocksOf(given));
});
