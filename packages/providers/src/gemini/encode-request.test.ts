import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatMessage, ChatRequest, ContentPart } from '@llm0/core/chat/request';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { EncodeContext } from '../provider-request';
import { gemini } from './index';

const CONTEXT: EncodeContext = {
  connection: { baseUrl: 'https://api.test', apiKey: 'k' },
  model: 'gemini-2.5-flash',
  dropParams: false,
};

const text = (words: string): ContentPart[] => [{ type: 'text', text: words }];
const user = (words: string): ChatMessage => ({ role: 'user', content: text(words) });
const ask = (more: Partial<ChatRequest> = {}): ChatRequest => ({
  model: 'alias',
  messages: [user('Hi')],
  stream: false,
  extra: {},
  ...more,
});

function encode(request: ChatRequest, context: Partial<EncodeContext> = {}) {
  const encoded = gemini.encodeRequest(request, { ...CONTEXT, ...context });
  return { ...encoded, json: JSON.parse(String(encoded.body)) as JsonObject };
}

const config = (request: ChatRequest, context: Partial<EncodeContext> = {}): JsonObject =>
  (encode(request, context).json.generationConfig ?? {}) as JsonObject;

function refusal(request: ChatRequest, context: Partial<EncodeContext> = {}): GatewayError {
  try {
    encode(request, context);
  } catch (error) {
    if (error instanceof GatewayError) return error;
  }
  throw new Error('the request was not refused');
}

describe('delivery', () => {
  test.each([
    [false, 'https://api.test/v1beta/models/gemini-2.5-flash:generateContent'],
    [true, 'https://api.test/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse'],
  ])('streamed %p: the key goes in its header, never in the URL', (stream, expected) => {
    const { url, headers, json } = encode(ask({ stream }));
    expect(url).toBe(expected);
    expect(headers['x-goog-api-key']).toBe('k');
    expect(json).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] });
  });

  test('odd names stay within the path', () => {
    expect(encode(ask(), { model: 'tunedModels/a?b' }).url).toContain('/v1beta/tunedModels/a%3Fb:generateContent');
    const connection = { baseUrl: 'https://api.test/v1beta/' };
    expect(encode(ask(), { connection }).url).toStartWith('https://api.test/v1beta/models/');
  });
});

describe('messages', () => {
  test('system messages are the system instruction, wherever they stand', () => {
    const { json } = encode(
      ask({
        messages: [
          { role: 'system', content: text('A') },
          user('a'),
          { role: 'developer', content: text('B') },
          user('b'),
          { role: 'assistant', content: text('c') },
        ],
      }),
    );
    expect(json.systemInstruction).toEqual({ parts: [{ text: 'A' }, { text: 'B' }] });
    expect(json.contents).toEqual([
      { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
      { role: 'model', parts: [{ text: 'c' }] },
    ]);
    const alone = encode(ask({ messages: [{ role: 'system', content: text('Go') }] })).json;
    expect(alone).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Go' }] }] });
  });

  const calls: ChatMessage = {
    role: 'assistant',
    content: text('calling'),
    toolCalls: [
      { id: 'c1', name: 'f', arguments: '{"x":1}', signature: 'sig' },
      { id: 'c2', name: 'my tool', arguments: '' },
    ],
  };

  test('calls keep their text and signature; results bear the name of their call', () => {
    const { json } = encode(
      ask({
        messages: [
          user('a'),
          calls,
          { role: 'tool', toolCallId: 'c2', content: text('{"ok":true}') },
          { role: 'tool', toolCallId: 'c1', content: text('plain') },
          { role: 'tool', toolCallId: 'c1', content: text('broke'), isError: true },
        ],
      }),
    );
    const [, said, results] = json.contents as [JsonObject, JsonObject, JsonObject];
    const [, , second] = said.parts as [JsonObject, JsonObject, { functionCall: { name: string } }];
    const { name } = second.functionCall;
    expect(name).toMatch(/^my_tool_\w{8}$/);
    expect(said.parts).toEqual([
      { text: 'calling' },
      { functionCall: { id: 'c1', name: 'f', args: { x: 1 } }, thoughtSignature: 'sig' },
      { functionCall: { id: 'c2', name, args: {} } },
    ]);
    expect(results).toEqual({
      role: 'user',
      parts: [
        { functionResponse: { id: 'c2', name, response: { ok: true } } },
        { functionResponse: { id: 'c1', name: 'f', response: { output: 'plain' } } },
        { functionResponse: { id: 'c1', name: 'f', response: { error: 'broke' } } },
      ],
    });
  });

  test('a result of no call is refused, naming it', () => {
    const error = refusal(ask({ messages: [{ role: 'tool', toolCallId: 'lost', content: text('x') }] }));
    expect(error.message).toContain('lost');
  });

  test('calls made elsewhere are marked so for models that check signatures', () => {
    const foreign: ChatMessage = {
      role: 'assistant',
      content: [],
      toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }],
    };
    const parts = (model: string) => {
      const { contents } = encode(ask({ messages: [user('a'), foreign] }), { model }).json;
      return (contents as { parts: JsonObject[] }[])[1]?.parts[0];
    };
    expect(parts('gemini-3-flash-preview')).toMatchObject({ thoughtSignature: 'skip_thought_signature_validator' });
    expect(parts('gemini-2.5-flash')).not.toHaveProperty('thoughtSignature');
  });

  test('a signature of text goes back with it, one of another vendor does not', () => {
    const reasoning = [
      { data: 'own', format: 'google-gemini-v1' },
      { text: 'Hm', signature: 'foreign', format: 'anthropic-claude-v1' },
    ];
    const said = (content: ContentPart[]) => {
      const { contents } = encode(ask({ messages: [user('a'), { role: 'assistant', content, reasoning }] })).json;
      return (contents as { parts: JsonObject[] }[])[1]?.parts;
    };
    expect(said(text('b'))).toEqual([{ text: 'b', thoughtSignature: 'own' }]);
    expect(said([])).toEqual([{ text: '', thoughtSignature: 'own' }]);
  });

  const PAGE = 'https://x.test/a.png';
  test.each<[ContentPart, JsonObject]>([
    [{ type: 'image', url: 'data:image/png;base64,AA==' }, { inlineData: { mimeType: 'image/png', data: 'AA==' } }],
    [{ type: 'image', url: PAGE }, { inlineData: { mimeType: 'image/png', data: 'BB==' } }],
    [{ type: 'image', url: 'gs://b/x.png' }, { fileData: { fileUri: 'gs://b/x.png' } }],
    [
      { type: 'file', dataUrl: 'data:application/pdf;base64,AA==' },
      { inlineData: { mimeType: 'application/pdf', data: 'AA==' } },
    ],
    [{ type: 'audio', dataBase64: 'AA==', format: 'wav' }, { inlineData: { mimeType: 'audio/wav', data: 'AA==' } }],
  ])('the part %j', (part, expected) => {
    const media = new Map([[PAGE, { mimeType: 'image/png', dataBase64: 'BB==' }]]);
    const { json } = encode(ask({ messages: [{ role: 'user', content: [part] }] }), { media });
    expect((json.contents as { parts: JsonObject[] }[])[0]?.parts).toEqual([expected]);
  });

  test('a file that the vendor stores is refused: it may be of another project', () => {
    const url = 'https://generativelanguage.googleapis.com/v1beta/files/abc';
    for (const part of [{ type: 'image', url } as const, { type: 'file', dataUrl: url } as const]) {
      expect(refusal(ask({ messages: [{ role: 'user', content: [part] }] })).message).toContain(
        'stored content of a provider',
      );
    }
  });

  test('content that the vendor caches is refused as stored files are, with dropped parameters too', () => {
    for (const name of ['cachedContent', 'cached_content']) {
      const { param, message } = refusal(ask({ extra: { [name]: 'cachedContents/abc' } }), { dropParams: true });
      expect([param, message]).toEqual([name, expect.stringContaining('any project of this gateway')]);
    }
  });

  test('only what the vendor does not read by itself has to be fetched', () => {
    const urls = [
      PAGE,
      PAGE,
      'gs://b/x',
      'data:,x',
      'https://youtu.be/x',
      'https://generativelanguage.googleapis.com/f',
    ];
    const content = urls.map((url): ContentPart => ({ type: 'image', url }));
    expect(gemini.remoteMedia?.(ask({ messages: [{ role: 'user', content }] }))).toEqual([PAGE]);
    expect(refusal(ask({ messages: [{ role: 'user', content }] })).kind).toBe('invalid_request');
  });
});

describe('tools', () => {
  const parameters: JsonObject = {
    type: 'object',
    properties: { a: { $ref: '#/$defs/A' } },
    $defs: { A: { type: ['string', 'null'], const: 'x' } },
    additionalProperties: false,
  };
  const tools: ChatRequest['tools'] = [
    { type: 'function', name: 'f', description: 'd', parameters },
    { type: 'function', name: 'g' },
  ];

  test('schemas are passed whole, or with references resolved for older models', () => {
    expect(encode(ask({ tools })).json.tools).toEqual([
      { functionDeclarations: [{ name: 'f', description: 'd', parametersJsonSchema: parameters }, { name: 'g' }] },
    ]);
    expect(encode(ask({ tools }), { model: 'gemini-1.5-pro' }).json.tools).toMatchObject([
      {
        functionDeclarations: [
          {
            name: 'f',
            parameters: { type: 'object', properties: { a: { type: 'string', nullable: true, enum: ['x'] } } },
          },
          { name: 'g' },
        ],
      },
    ]);
  });

  test('a schema that refers to itself ends', () => {
    const schema = { $ref: '#/$defs/N', $defs: { N: { type: 'object', properties: { next: { $ref: '#/$defs/N' } } } } };
    const responseFormat = { type: 'json_schema', name: 's', schema } as const;
    expect(config(ask({ responseFormat }), { model: 'gemini-1.5-pro' })).toEqual({
      responseMimeType: 'application/json',
      responseSchema: { type: 'object', properties: { next: { type: 'object' } } },
    });
  });

  test.each<[ChatRequest['toolChoice'], JsonObject | undefined]>([
    [undefined, undefined],
    [{ type: 'auto' }, { mode: 'AUTO' }],
    [{ type: 'none' }, { mode: 'NONE' }],
    [{ type: 'required' }, { mode: 'ANY' }],
    [
      { type: 'tool', name: 'f' },
      { mode: 'ANY', allowedFunctionNames: ['f'] },
    ],
  ])('the choice %j', (toolChoice, expected) => {
    const { toolConfig } = encode(ask({ tools, toolChoice })).json;
    expect(toolConfig).toEqual((expected && { functionCallingConfig: expected }) as JsonObject);
  });

  test('its own built-in tools pass, others are left out and named, or refused where they are demanded', () => {
    const raw = (value: JsonObject): ChatRequest => ask({ tools: [{ type: 'raw', format: 'openai-chat', value }] });
    expect(encode(raw({ google_search: {} })).json.tools).toEqual([{ google_search: {} }]);
    const { json, dropped } = encode(raw({ type: 'web_search' }));
    expect([json.tools, dropped]).toEqual([undefined, ['tools.web_search']]);
    const demanded = { ...raw({ type: 'web_search' }), toolChoice: { type: 'required' } as const };
    expect(refusal(demanded).param).toBe('tools.web_search');
  });

  test('names are mapped back when the model calls', () => {
    const request = ask({ tools: [{ type: 'function', name: '1 tool' }] });
    const [{ functionDeclarations }] = encode(request).json.tools as [{ functionDeclarations: [{ name: string }] }];
    const { name } = functionDeclarations[0];
    expect(name).toMatch(/^[A-Za-z_][\w.:-]*$/);
    const body = { candidates: [{ content: { parts: [{ functionCall: { name } }] }, finishReason: 'STOP' }] };
    const { events } = gemini.decodeResponse(new TextEncoder().encode(JSON.stringify(body)), request);
    expect(events.find((event) => event.type === 'tool-call')).toMatchObject({ name: '1 tool' });
  });
});

describe('generation', () => {
  test('every parameter the vendor has', () => {
    const request = ask({
      temperature: 0,
      topP: 0.5,
      topK: 3,
      seed: 0,
      n: 2,
      maxOutputTokens: 9,
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
      logprobs: true,
      topLogprobs: 2,
      stop: ['a', ''],
      user: 'u',
      metadata: { x: 'y' },
      serviceTier: 'auto',
      extra: { modalities: ['text', 'image'], store: true },
    });
    expect(config(request)).toEqual({
      temperature: 0,
      topP: 0.5,
      topK: 3,
      seed: 0,
      candidateCount: 2,
      maxOutputTokens: 9,
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
      responseLogprobs: true,
      logprobs: 2,
      stopSequences: ['a'],
      responseModalities: ['TEXT', 'IMAGE'],
    });
  });

  test.each<[string, Partial<ChatRequest>]>([
    ['logit_bias', { logitBias: { '5': 1 } }],
    ['stop', { stop: ['1', '2', '3', '4', '5', '6'] }],
    ['service_tier', { serviceTier: 'flex' }],
    ['mcp_servers', { extra: { mcp_servers: [{ url: 'https://x' }] } }],
    ['reasoning_effort', { reasoningEffort: 'odd' }],
  ])('%s is refused, or dropped when allowed', (param, more) => {
    const error = refusal(ask(more));
    expect([error.kind, error.param]).toEqual(['unsupported_parameter', param]);
    expect(encode(ask(more), { dropParams: true }).dropped).toEqual([param]);
  });

  test('dropped user and cache fields are named', () => {
    const extra = { prompt_cache_key: 'k', safety_identifier: 's', stream_options: {} };
    expect(encode(ask({ user: 'u', extra })).dropped).toEqual(['user', 'prompt_cache_key', 'safety_identifier']);
    const kept = ask({ metadata: { a: 'b' } });
    expect(encode(kept).dropped).toEqual(['metadata']);
    // Callers of Responses get it back from us.
    const wire = { format: 'openai-responses', body: {} } as const;
    expect(encode({ ...kept, wire }).dropped).toEqual([]);
  });

  test('one call at a time of the one tool that must be called: said, not refused', () => {
    const tools = [{ type: 'function', name: 'f' } as const];
    const forced = ask({ parallelToolCalls: false, tools, toolChoice: { type: 'tool', name: 'f' } });
    expect(encode(forced).dropped).toEqual(['parallel_tool_calls']);
  });

  test('safety settings are the vendor’s, unless the caller sends some', () => {
    expect(encode(ask()).json.safetySettings).toBeUndefined();
    const extra = { safety_settings: [{ category: 'C', threshold: 'T' }] };
    expect(encode(ask({ extra })).json.safetySettings).toEqual(extra.safety_settings);
  });

  test('JSON, with a schema or without', () => {
    expect(config(ask({ responseFormat: { type: 'json_object' } }))).toEqual({ responseMimeType: 'application/json' });
    const schema = { type: 'object', properties: {}, additionalProperties: false };
    expect(config(ask({ responseFormat: { type: 'json_schema', name: 's', schema } }))).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    });
  });

  test.each<[string, string, JsonObject | undefined]>([
    ['gemini-2.5-flash', 'none', { thinkingBudget: 0 }],
    ['gemini-2.5-pro', 'none', { thinkingBudget: 128 }],
    ['gemini-2.5-flash', 'low', { thinkingBudget: 1024, includeThoughts: true }],
    ['gemini-2.5-flash', 'medium', { thinkingBudget: 8192, includeThoughts: true }],
    ['gemini-2.5-flash', 'high', { thinkingBudget: 24_576, includeThoughts: true }],
    ['gemini-3-flash-preview', 'none', { thinkingLevel: 'minimal' }],
    ['gemini-3.1-pro-preview', 'minimal', { thinkingLevel: 'low', includeThoughts: true }],
    ['gemini-flash-latest', 'high', { thinkingLevel: 'high', includeThoughts: true }],
    ['gemini-2.0-flash', 'none', undefined],
  ])('%s with effort %s', (model, reasoningEffort, expected) => {
    expect(config(ask({ reasoningEffort }), { model }).thinkingConfig).toEqual(expected as JsonObject);
  });

  test.each<[JsonObject, JsonObject]>([
    [
      { type: 'enabled', budget_tokens: 2000 },
      { thinkingBudget: 2000, includeThoughts: true },
    ],
    [{ type: 'adaptive' }, { thinkingBudget: -1, includeThoughts: true }],
    [{ type: 'disabled' }, { thinkingBudget: 0 }],
  ])('thinking %j as another vendor says it', (thinking, expected) => {
    expect(config(ask({ thinking })).thinkingConfig).toEqual(expected);
  });

  test('models that do not think refuse to', () => {
    expect(refusal(ask({ reasoningEffort: 'low' }), { model: 'gemini-2.0-flash' }).param).toBe('reasoning_effort');
  });
});

describe('errors', () => {
  test.each<[string, number | undefined]>([
    ['34.07s', 34_070],
    ['2s', 2000],
    ['soon', undefined],
  ])('RetryInfo %s', (retryDelay, expected) => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }];
    const body = JSON.stringify({ error: { code: 429, message: 'Quota', status: 'RESOURCE_EXHAUSTED', details } });
    const error = gemini.decodeError(429, new Headers(), body);
    expect([error.failure, error.retryAfterMs]).toEqual(['rate_limited', expected]);
  });
});
