import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import { replayResponse } from '@llm0/core/chat/replay';
import type { ChatMessage, ChatRequest, ContentPart, ReasoningPart } from '@llm0/core/chat/request';
import type { ChatChoice, ChatResponse } from '@llm0/core/chat/response';
import { collectEvents } from '@llm0/core/chat/testing/collect-events';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { anthropic } from '@llm0/providers/anthropic/index';
import { gemini } from '@llm0/providers/gemini/index';
import { openai } from '@llm0/providers/openai/index';
import { ANY_REQUEST, decodeStream } from '@llm0/providers/provider.cases';
import { countMarks } from '@llm0/providers/translation/refuse-parameter';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import type { ResponseSummary } from '../dialect';
import { openaiChat } from '../openai-chat/index';
import { anthropicMessages } from './index';

const FORMAT = 'anthropic-claude-v1';
const MODEL = 'claude-opus-4-7';
const CONTEXT = { connection: { baseUrl: 'https://h' }, model: MODEL, dropParams: false };

const word = fc.string({ minLength: 1, maxLength: 12 }).map((text) => `w${text.trim()}`);
const base64 = fc.base64String({ minLength: 4, maxLength: 16 });
const mark = fc.constantFrom({ type: 'ephemeral' }, { type: 'ephemeral', ttl: '1h' });
const withMark = <T extends object>(part: fc.Arbitrary<T>) =>
  fc
    .tuple(part, fc.option(mark, { nil: undefined }))
    .map(([one, cacheControl]): T => (cacheControl === undefined ? one : { ...one, cacheControl }));

const text = withMark(word.map((one): ContentPart => ({ type: 'text', text: one })));
const media = withMark(
  fc.oneof(
    base64.map((data): ContentPart => ({ type: 'image', url: `data:image/png;base64,${data}` })),
    fc.webUrl().map((url): ContentPart => ({ type: 'image', url })),
    fc
      .tuple(base64, word)
      .map(
        ([data, filename]): ContentPart => ({ type: 'file', dataUrl: `data:application/pdf;base64,${data}`, filename }),
      ),
    word.map(
      (one): ContentPart => ({
        type: 'file',
        dataUrl: `data:text/plain;base64,${Buffer.from(one).toString('base64')}`,
      }),
    ),
    fc.webUrl().map((dataUrl): ContentPart => ({ type: 'file', dataUrl })),
  ),
);
const foreign: fc.Arbitrary<ContentPart> = word.map((title) => ({
  type: 'raw',
  format: 'anthropic-messages',
  value: { type: 'search_result', source: 'https://s', title, content: [] },
}));
const parts = fc.array(fc.oneof(text, media, foreign), { minLength: 1, maxLength: 4 });

const thought: fc.Arbitrary<ReasoningPart> = fc.oneof(
  fc.record({ text: word, signature: base64, format: fc.constant(FORMAT) }),
  fc.record({ data: base64, format: fc.constant(FORMAT) }),
);
const jsonObject = fc.dictionary(
  fc.stringMatching(/^[a-z]{1,5}$/),
  fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.string(), { maxLength: 3 })),
  { maxKeys: 3 },
) as fc.Arbitrary<JsonObject>;
const toolName = fc.constantFrom('weather', 'time', 'a-b_c');

interface CallTurn {
  readonly said: readonly ContentPart[];
  readonly reasoning: readonly ReasoningPart[];
  readonly calls: readonly { name: string; input: JsonObject; result: readonly ContentPart[]; isError: boolean }[];
  readonly next: readonly ContentPart[];
}

const turn: fc.Arbitrary<CallTurn> = fc.record({
  said: fc.array(text, { maxLength: 2 }),
  reasoning: fc.array(thought, { maxLength: 2 }),
  calls: fc.array(
    fc.record({
      name: toolName,
      input: jsonObject,
      result: fc.array(fc.oneof(text, media), { maxLength: 2 }),
      isError: fc.boolean(),
    }),
    { maxLength: 3 },
  ),
  next: parts,
});

/** One side's turn with its calls, their results, and what the other side says next. */
function messagesOf({ said, reasoning, calls, next }: CallTurn, index: number): ChatMessage[] {
  const isEmpty = said.length + calls.length === 0;
  const content: readonly ContentPart[] = isEmpty ? [{ type: 'text', text: 'so' }] : said;
  const toolCalls = calls.map(({ name, input }, i) => ({
    id: `call_${index}_${i}`,
    name,
    arguments: JSON.stringify(input),
  }));
  return [
    {
      role: 'assistant',
      content,
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
      ...(reasoning.length === 0 ? {} : { reasoning }),
    },
    ...calls.map(
      ({ result, isError }, i): ChatMessage => ({
        ...{ role: 'tool', toolCallId: `call_${index}_${i}`, content: result },
        ...(isError ? { isError } : {}),
      }),
    ),
    { role: 'user', content: next },
  ];
}

const option = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const share = fc.constantFrom(0, 0.25, 0.5);

const requests: fc.Arbitrary<ChatRequest> = fc
  .record({
    system: fc.array(text, { maxLength: 2 }),
    first: parts,
    turns: fc.array(turn, { maxLength: 3 }),
    stream: fc.boolean(),
    maxOutputTokens: fc.integer({ min: 1, max: 60_000 }),
    temperature: option(share),
    topK: option(fc.integer({ min: 1, max: 40 })),
    stop: option(fc.array(word, { minLength: 1, maxLength: 3 })),
    tools: option(
      fc.array(
        fc.record(
          {
            name: toolName,
            description: word,
            parameters: fc.constant({ type: 'object', properties: { x: { type: 'string' } } }),
            cacheControl: mark,
          },
          { requiredKeys: ['name', 'parameters'] },
        ),
        { minLength: 1, maxLength: 3 },
      ),
    ),
    choice: fc.constantFrom(undefined, 'auto', 'required', 'none', 'tool'),
    oneAtATime: fc.boolean(),
    thinking: option(
      fc.constantFrom({ type: 'adaptive' }, { type: 'disabled' }, { type: 'enabled', budget_tokens: 2048 }),
    ),
    effort: option(fc.constantFrom('low', 'medium', 'high')),
    user: option(word),
    serviceTier: option(fc.constantFrom('auto', 'default')),
  })
  .map(({ system, first, turns, tools, choice, oneAtATime, thinking, effort, ...plain }) => {
    const request: Record<string, unknown> = {
      model: MODEL,
      messages: [
        ...(system.length === 0 ? [] : [{ role: 'system', content: system }]),
        { role: 'user', content: first },
        ...turns.flatMap(messagesOf),
      ],
      extra: {},
      ...plain,
    };
    if (tools !== undefined) {
      request.tools = tools.map(({ name, description, parameters, cacheControl }) => ({
        ...{ type: 'function', name, description, parameters, cacheControl },
      }));
      if (choice === 'tool') request.toolChoice = { type: 'tool', name: 'weather' };
      else if (choice !== undefined) request.toolChoice = { type: choice };
      if (oneAtATime && choice !== undefined && choice !== 'none') request.parallelToolCalls = false;
    }
    if (thinking !== undefined) {
      request.thinking = thinking;
      request.reasoningEffort = effort;
    }
    // Fields that are undefined were not sent.
    return JSON.parse(JSON.stringify(request)) as ChatRequest;
  })
  // Marks beyond those that the vendor takes do not survive.
  .filter((request) => countMarks(request) <= 4);

describe('decoding undoes encoding', () => {
  test('requests', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const body = JSON.parse(String(anthropic.encodeRequest(request, CONTEXT).body)) as JsonObject;
        const { wire, ...decoded } = anthropicMessages.decodeRequest(body);
        expect(decoded).toEqual(request as never);
        expect(wire?.body).toEqual(body);
      }),
      { numRuns: runs(300) },
    );
  });

  const usage = fc
    .tuple(fc.nat(1000), fc.nat(1000), fc.nat(1000), fc.nat(1000), fc.nat(1000), fc.nat(1000))
    .map(([inputTokens, cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens, outputTokens, reasoningTokens]) => ({
      ...ZERO_USAGE,
      ...{ inputTokens, cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens, outputTokens, reasoningTokens },
    }));
  const answers: fc.Arbitrary<ChatResponse> = fc
    .record({
      said: option(word),
      thoughts: fc.array(thought, { maxLength: 2 }),
      calls: fc.array(fc.record({ name: toolName, input: jsonObject }), { maxLength: 3 }),
      cut: fc.boolean(),
      usage,
    })
    .map(({ said, thoughts, calls, cut, ...rest }) => {
      const told = thoughts.flatMap(({ text: one }) => (one === undefined ? [] : [one]));
      const native = cut ? 'max_tokens' : calls.length > 0 ? 'tool_use' : 'end_turn';
      const choice: Record<string, unknown> = {
        index: 0,
        text: said ?? null,
        finishReason: cut ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop',
        nativeFinishReason: native,
      };
      if (told.length > 0) choice.reasoning = told.join('');
      if (thoughts.length > 0) {
        choice.reasoningDetails = thoughts.map((one) => ({
          type: one.data === undefined ? 'reasoning.text' : 'reasoning.encrypted',
          ...one,
        }));
      }
      if (calls.length > 0) {
        choice.toolCalls = calls.map(({ name, input }, i) => ({
          id: `toolu_${i}`,
          name,
          arguments: JSON.stringify(input),
        }));
      }
      return { id: 'msg_1', model: MODEL, choices: [choice as unknown as ChatChoice], ...rest };
    });
  const summaryOf = (response: ChatResponse): ResponseSummary => ({
    ...{ requestId: 'r', provider: 'p', model: MODEL, cache: 'miss', costNanoUsd: 5, latencyMs: 1, createdSeconds: 0 },
    usage: response.usage ?? ZERO_USAGE,
  });

  test('whole answers', () => {
    fc.assert(
      fc.property(answers, (response) => {
        const body = anthropicMessages.encodeResponse(response, summaryOf(response));
        const { events } = anthropic.decodeResponse(new TextEncoder().encode(body), ANY_REQUEST);
        const { extra, ...decoded } = collectEvents(events);
        expect(decoded).toEqual(response);
        expect(Object.keys(extra ?? {})).toEqual(['latency_ms', 'cost_usd']);
      }),
      { numRuns: runs(200) },
    );
  });

  test('streamed answers, whatever the batches', () => {
    fc.assert(
      fc.property(answers, fc.infiniteStream(fc.boolean()), (response, cuts) => {
        const encoder = anthropicMessages.createStreamEncoder({
          ...{ requestId: 'r', model: MODEL, createdSeconds: 0 },
          request: { ...ANY_REQUEST, thinking: { type: 'adaptive' } },
        });
        const pieces: Uint8Array[] = [];
        let batch: (typeof replayed)[number][] = [];
        const replayed = replayResponse(response).events;
        for (const event of replayed) {
          batch.push(event);
          if (cuts.next().value !== true) continue;
          pieces.push(encoder.encode({ events: batch }) ?? new Uint8Array(0));
          batch = [];
        }
        pieces.push(encoder.encode({ events: batch }) ?? new Uint8Array(0), encoder.finish(summaryOf(response)));
        const { events, error } = decodeStream(anthropic, pieces);
        expect(error).toBeUndefined();
        expect(collectEvents(events)).toEqual(response);
      }),
      { numRuns: runs(200) },
    );
  });
});

describe('a conversation that changes its vendor', () => {
  const tools = [{ name: 'look', input_schema: { type: 'object', properties: { at: { type: 'string' } } } }];
  const image: JsonObject = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } };
  const ownTurn: JsonObject = {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'I must look.', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'c2VhbGVk' },
      { type: 'text', text: 'Let me look.' },
      { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'sky' } },
      { type: 'tool_use', id: 'toolu_2', name: 'look', input: {} },
    ],
  };
  const results: JsonObject = {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'blue' }, image] },
      { type: 'tool_result', tool_use_id: 'toolu_2', is_error: true, content: 'nothing there' },
      { type: 'text', text: 'And now?' },
    ],
  };
  const body: JsonObject = {
    ...{ model: 'm', max_tokens: 500, system: 'Be brief.', tools, thinking: { type: 'enabled', budget_tokens: 2000 } },
    messages: [{ role: 'user', content: [{ type: 'text', text: 'See?' }, image] }, ownTurn, results],
  };

  test('every turn keeps its meaning with a Chat Completions model, and back', () => {
    const request = anthropicMessages.decodeRequest(body);
    const sent = openai.encodeRequest(request, { ...CONTEXT, model: 'gpt-5' });
    const url = 'data:image/png;base64,iVBO';
    expect(JSON.parse(String(sent.body))).toMatchObject({
      reasoning_effort: 'low',
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See?' },
            { type: 'image_url', image_url: { url } },
          ],
        },
        {
          role: 'assistant',
          content: 'Let me look.',
          tool_calls: [
            { id: 'toolu_1', function: { name: 'look', arguments: '{"at":"sky"}' } },
            { id: 'toolu_2', function: { name: 'look', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'toolu_1', content: 'blue' },
        { role: 'tool', tool_call_id: 'toolu_2', content: 'Error: nothing there' },
        { role: 'user', content: [{ type: 'text' }, { type: 'image_url', image_url: { url } }] },
        { role: 'user', content: 'And now?' },
      ],
    });
    expect(sent.dropped).toEqual(['messages.thinking']);
    // Its answer, thoughts and all, goes back to the first vendor with the whole conversation.
    const answer = { content: 'Done.', reasoning_content: 'Now I know.' };
    const raw = { id: 'c', model: 'gpt-5', choices: [{ index: 0, message: answer, finish_reason: 'stop' }] };
    const { events } = openai.decodeResponse(new TextEncoder().encode(JSON.stringify(raw)), request);
    const summary = {
      requestId: 'r',
      provider: 'p',
      model: 'gpt-5',
      cache: 'miss',
      costNanoUsd: 1,
      latencyMs: 1,
    } as const;
    const encoded = anthropicMessages.encodeResponse(collectEvents(events), {
      ...summary,
      ...{ usage: ZERO_USAGE, createdSeconds: 0, request },
    });
    const { content } = JSON.parse(encoded) as { content: JsonObject[] };
    expect(content.map(({ type }) => type)).toEqual(['thinking', 'text']);
    const history = [
      ...(body.messages as JsonObject[]),
      { role: 'assistant', content },
      { role: 'user', content: 'Thanks' },
    ];
    const back = anthropicMessages.decodeRequest({ ...body, messages: history });
    const native = JSON.parse(String(anthropic.encodeRequest(back, CONTEXT).body)) as { messages: JsonObject[] };
    expect(native.messages).toEqual([
      ...(body.messages as JsonObject[]),
      { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
      { role: 'user', content: 'Thanks' },
    ]);
    expect(back.messages.at(-2)).toMatchObject({ reasoning: [{ text: 'Now I know.' }] });
  });

  test('seals of another vendor return to it, and are never seen by this one', () => {
    const call = { functionCall: { id: 'fc', name: 'look', args: { at: 'sea' } }, thoughtSignature: 'Z2Vt' };
    const parts = [{ text: 'Hm.', thought: true }, { text: 'Wait.', thoughtSignature: 'dGV4dA==' }, call];
    const raw = { candidates: [{ content: { parts }, finishReason: 'STOP' }], responseId: 'x' };
    const request = anthropicMessages.decodeRequest(body);
    const { events } = gemini.decodeResponse(new TextEncoder().encode(JSON.stringify(raw)), request);
    const encoder = anthropicMessages.createStreamEncoder({ requestId: 'r', model: 'g', createdSeconds: 0, request });
    const summary = { requestId: 'r', provider: 'p', model: 'g', cache: 'miss', costNanoUsd: 1, latencyMs: 1 } as const;
    const bytes = [
      encoder.encode({ events }) ?? new Uint8Array(0),
      encoder.finish({ ...summary, usage: ZERO_USAGE, createdSeconds: 0 }),
    ];
    expect(new TextDecoder().decode(Buffer.concat(bytes))).not.toContain('dGV4dA==');
    const whole = anthropicMessages.encodeResponse(collectEvents(events), {
      ...summary,
      ...{ usage: ZERO_USAGE, createdSeconds: 0, request },
    });
    const { content } = JSON.parse(whole) as { content: JsonObject[] };
    const history = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'fc', content: 'wet' }] },
    ];
    const next = anthropicMessages.decodeRequest({ ...body, messages: history });
    const sent = JSON.parse(String(gemini.encodeRequest(next, { ...CONTEXT, model: 'gemini-3-pro' }).body));
    expect(sent.contents[1].parts).toEqual([{ text: 'Wait.', thoughtSignature: 'dGV4dA==' }, call]);
    const own = String(anthropic.encodeRequest(next, CONTEXT).body);
    expect(own).not.toContain('llm0.');
    expect(own).not.toContain('signature');
  });

  test('the same question in two dialects is the same request', () => {
    const chat = openaiChat.decodeRequest({
      model: 'm',
      max_tokens: 9,
      messages: [
        { role: 'system', content: 'S' },
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: 'x',
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'r' },
      ],
      tools: [{ type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object' } } }],
      tool_choice: 'required',
      stop: ['END'],
    });
    const messages = anthropicMessages.decodeRequest({
      model: 'm',
      max_tokens: 9,
      system: 'S',
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'x' },
            { type: 'tool_use', id: 'c', name: 'f', input: { a: 1 } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'r' }] },
      ],
      tools: [{ name: 'f', description: 'd', input_schema: { type: 'object' } }],
      tool_choice: { type: 'any' },
      stop_sequences: ['END'],
    });
    const plain = ({ wire: _wire, ...request }: ChatRequest) => JSON.stringify(Object.entries(request).sort());
    expect(plain(messages)).toBe(plain(chat));
  });
});
