import { describe, expect, test } from 'bun:test';
import { createHash, createHmac } from 'node:crypto';
import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { EncodeContext, UpstreamRequest } from '../provider-request';
import { bedrock } from './index';

const HAIKU = 'us.anthropic.claude-haiku-4-5-20251001-v1:0';
const NOVA = 'amazon.nova-pro-v1:0';
const NOVA_2 = 'amazon.nova-2-lite-v1:0';
const LLAMA = 'us.meta.llama3-3-70b-instruct-v1:0';
const ACCESS_KEY = 'AKIAIOSFODNN7EXAMPLE';
const SECRET_KEY = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';

function encode(request: Partial<ChatRequest>, context: Partial<EncodeContext> = {}): UpstreamRequest {
  const messages: ChatRequest['messages'] = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }];
  return bedrock.encodeRequest(
    { model: 'm', messages, stream: false, extra: {}, ...request },
    { connection: { baseUrl: '', options: { region: 'eu-west-1' } }, model: HAIKU, dropParams: false, ...context },
  );
}

const bodyOf = (request: Partial<ChatRequest>, context?: Partial<EncodeContext>) =>
  JSON.parse(String(encode(request, context).body)) as JsonObject;

function paramRefused(request: Partial<ChatRequest>, context?: Partial<EncodeContext>): string | undefined {
  try {
    encode(request, context);
  } catch (error) {
    if (error instanceof GatewayError && error.kind === 'unsupported_parameter') return error.param;
    throw error;
  }
  return undefined;
}

const text = (value: string) => ({ type: 'text' as const, text: value });
const WEATHER = {
  type: 'function' as const,
  name: 'weather',
  description: 'Weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

describe('target of a request', () => {
  test('host by region, model and method in the path', () => {
    expect(encode({}).url).toBe(
      'https://bedrock-runtime.eu-west-1.amazonaws.com/model/us.anthropic.claude-haiku-4-5-20251001-v1%3A0/converse',
    );
    expect(encode({ stream: true }, { model: NOVA }).url).toEndWith('/model/amazon.nova-pro-v1%3A0/converse-stream');
    const regional = encode({}, { model: 'us-west-2/anthropic.claude-v2:1' });
    expect(regional.url).toBe('https://bedrock-runtime.us-west-2.amazonaws.com/model/anthropic.claude-v2%3A1/converse');
    const arn = 'arn:aws:bedrock:us-east-1:1234:application-inference-profile/ab12';
    expect(encode({}, { model: arn }).url).toEndWith(`/model/${encodeURIComponent(arn)}/converse`);
    const own = { connection: { baseUrl: 'https://proxy.example/bedrock' } };
    expect(encode({}, own).url).toStartWith('https://proxy.example/bedrock/model/');
  });

  test('a Bedrock API key is a bearer token, and nothing is signed', () => {
    const { headers } = encode({}, { connection: { baseUrl: '', apiKey: 'bedrock-api-key-YWJj:ZGVm' } });
    expect(headers.authorization).toBe('Bearer bedrock-api-key-YWJj:ZGVm');
    expect(headers['x-amz-date']).toBeUndefined();
  });

  test('half a pair of keys is no request', () => {
    expect(() => encode({}, { connection: { baseUrl: '', apiKey: ACCESS_KEY } })).toThrow('access key id');
  });
});

/** The server's side of Signature Version 4, written from the specification. */
function expectedSignature(request: UpstreamRequest, region: string): string {
  const sha256 = (value: string) => createHash('sha256').update(value).digest('hex');
  const hmac = (key: string | Buffer, value: string) => createHmac('sha256', key).update(value).digest();
  const [, scopeDate = '', signedHeaders = ''] =
    /Credential=[^/]+\/(\d{8})\/.*SignedHeaders=([^,]+),/.exec(request.headers.authorization ?? '') ?? [];
  const { host, pathname } = new URL(request.url);
  const sent: Record<string, string> = {
    ...request.headers,
    host,
    'content-length': String(Buffer.byteLength(String(request.body))),
  };
  const canonical = [
    'POST',
    // Paths are encoded once more, as for every service but S3.
    pathname.split('/').map(encodeURIComponent).join('/'),
    '',
    ...signedHeaders.split(';').map((name) => `${name}:${sent[name]?.trim()}`),
    '',
    signedHeaders,
    sha256(String(request.body)),
  ].join('\n');
  const scope = `${scopeDate}/${region}/bedrock/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', request.headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = [region, 'bedrock', 'aws4_request'].reduce(hmac, hmac(`AWS4${SECRET_KEY}`, scopeDate));
  return createHmac('sha256', key).update(toSign).digest('hex');
}

describe('signature', () => {
  test.each([HAIKU, NOVA, 'arn:aws:bedrock:us-east-1:1234:inference-profile/us.anthropic.claude-sonnet-4-6'])(
    '%s: is what the server computes, and neither secret nor token of it is anywhere else',
    (model) => {
      const connection = {
        baseUrl: '',
        apiKey: `${ACCESS_KEY}:${SECRET_KEY}:session/token+with:colons==`,
        options: { region: 'eu-west-1' },
      };
      const request = encode({ messages: [{ role: 'user', content: [text('Grüße 🌍')] }] }, { connection, model });
      const signature = /Signature=([0-9a-f]{64})$/.exec(request.headers.authorization ?? '')?.[1];
      expect(signature).toBe(expectedSignature(request, 'eu-west-1'));
      expect(request.headers['x-amz-security-token']).toBe('session/token+with:colons==');
      expect(request.headers.authorization).toStartWith(`AWS4-HMAC-SHA256 Credential=${ACCESS_KEY}/`);
      expect(JSON.stringify(request)).not.toContain(SECRET_KEY);
    },
  );
});

describe('messages', () => {
  test('system apart, turns merged, calls and results, thoughts, marks for the cache', () => {
    const body = bodyOf({
      tools: [WEATHER],
      messages: [
        { role: 'system', content: [{ ...text('be kind'), cacheControl: { type: 'ephemeral', ttl: '1h' } }] },
        { role: 'user', content: [text('a'), text(' ')] },
        { role: 'developer', content: [text('be brief')] },
        { role: 'user', content: [{ ...text('b'), cacheControl: { type: 'ephemeral' } }] },
        {
          role: 'assistant',
          content: [text('one moment')],
          reasoning: [
            { text: 'hm', signature: 's', format: 'bedrock-converse-v1' },
            { data: 'sealed', format: 'anthropic-claude-v1' },
            { text: 'not signed' },
            { text: 'foreign', signature: 'x', format: 'google-gemini-v1' },
          ],
          toolCalls: [{ id: 'call.1', name: 'weather', arguments: '{"city":"Bern"}' }],
        },
        { role: 'tool', toolCallId: 'call.1', content: [text('sunny')], isError: true },
        { role: 'user', content: [text('and?')] },
      ],
    });
    expect(body.system).toEqual([
      { text: 'be kind' },
      { cachePoint: { type: 'default', ttl: '1h' } },
      { text: 'be brief' },
    ]);
    const [, assistant, last] = body.messages as { content: { toolUse?: { toolUseId: string } }[] }[];
    const id = assistant?.content.at(-1)?.toolUse?.toolUseId ?? '';
    expect(id).toMatch(/^call_1_[0-9a-f]{8}$/);
    expect(body.messages).toEqual([
      { role: 'user', content: [{ text: 'a' }, { text: 'b' }, { cachePoint: { type: 'default' } }] },
      {
        role: 'assistant',
        content: [
          { reasoningContent: { reasoningText: { text: 'hm', signature: 's' } } },
          { reasoningContent: { redactedContent: 'sealed' } },
          { text: 'one moment' },
          { toolUse: { toolUseId: id, name: 'weather', input: { city: 'Bern' } } },
        ],
      },
      {
        role: 'user',
        content: [{ toolResult: { toolUseId: id, content: [{ text: 'sunny' }], status: 'error' } }, { text: 'and?' }],
      },
    ]);
    expect(last?.content).toHaveLength(2);
  });

  test('images, documents and files: data, fetched URLs and own storage', () => {
    const media = new Map([['https://e.com/cat.jpg', { mimeType: 'image/jpeg', dataBase64: 'Y2F0' }]]);
    const content: ChatRequest['messages'][number]['content'] = [
      text('look'),
      { type: 'image', url: 'data:image/png;base64,cGl4' },
      { type: 'image', url: 'https://e.com/cat.jpg' },
      { type: 'image', url: 's3://bucket/a/dog.webp' },
      { type: 'file', dataUrl: 'data:application/pdf;base64,cGRm', filename: 'Bericht_2026 (neu).pdf' },
      { type: 'file', dataUrl: 'data:text/csv;base64,YSxi' },
    ];
    const request: ChatRequest = { model: 'm', messages: [{ role: 'user', content }], stream: false, extra: {} };
    expect(bedrock.remoteMedia?.(request)).toEqual(['https://e.com/cat.jpg']);
    const [message] = bodyOf(request, { media }).messages as JsonObject[];
    const names = ((message?.content ?? []) as { document?: { name: string } }[]).flatMap(
      (one) => one.document?.name ?? [],
    );
    expect(message?.content).toMatchObject([
      { text: 'look' },
      { image: { format: 'png', source: { bytes: 'cGl4' } } },
      { image: { format: 'jpeg', source: { bytes: 'Y2F0' } } },
      { image: { format: 'webp', source: { s3Location: { uri: 's3://bucket/a/dog.webp' } } } },
      { document: { format: 'pdf', source: { bytes: 'cGRm' } } },
      { document: { format: 'csv', source: { bytes: 'YSxi' } } },
    ]);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9()[\]-]+(?: [A-Za-z0-9()[\]-]+)*$/);
    expect(names[0]).toBe('Bericht-2026 (neu)');
    expect(new Set(names).size).toBe(2);
  });

  test('audio and unknown kinds of files are refused by name', () => {
    const asks = (content: ChatRequest['messages'][number]['content']) =>
      paramRefused({ messages: [{ role: 'user', content }] });
    expect(asks([{ type: 'audio', dataBase64: 'YQ==', format: 'wav' }])).toBe('messages');
    expect(asks([{ type: 'image', url: 'data:image/tiff;base64,YQ==' }])).toBe('messages');
    expect(() => asks([{ type: 'image', url: 'ftp://x/y.png' }])).toThrow("couldn't be read");
  });
});

describe('tools', () => {
  test('declared whole, with names the vendor takes', () => {
    const odd = { ...WEATHER, name: 'get.the weather!', cacheControl: { type: 'ephemeral' } };
    const { tools } = bodyOf({ tools: [odd, { type: 'function', name: 'time' }] }).toolConfig as {
      tools: JsonObject[];
    };
    expect(tools).toEqual([
      {
        toolSpec: {
          name: expect.stringMatching(/^get_the_weather__[0-9a-f]{8}$/),
          description: 'Weather of a city',
          inputSchema: { json: WEATHER.parameters },
        },
      },
      { cachePoint: { type: 'default' } },
      { toolSpec: { name: 'time', inputSchema: { json: { type: 'object', properties: {} } } } },
    ]);
  });

  test.each([
    [{ type: 'auto' as const }, undefined],
    [{ type: 'required' as const }, { any: {} }],
    [{ type: 'tool' as const, name: 'weather' }, { tool: { name: 'weather' } }],
  ])('choice %p', (toolChoice, expected) => {
    const { toolConfig } = bodyOf({ tools: [WEATHER], toolChoice });
    expect((toolConfig as JsonObject).toolChoice).toEqual(expected as unknown as JsonObject);
  });

  test('none: left out, or refused where earlier calls demand their tools', () => {
    expect(bodyOf({ tools: [WEATHER], toolChoice: { type: 'none' } }).toolConfig).toBeUndefined();
    const called: ChatRequest['messages'] = [
      { role: 'user', content: [text('a')] },
      { role: 'assistant', content: [], toolCalls: [{ id: 'c', name: 'weather', arguments: '' }] },
      { role: 'tool', toolCallId: 'c', content: [text('r')] },
    ];
    expect(paramRefused({ tools: [WEATHER], toolChoice: { type: 'none' }, messages: called })).toBe('tool_choice');
    expect(bodyOf({ messages: called }).toolConfig).toEqual({
      tools: [{ toolSpec: { name: 'weather', inputSchema: { json: { type: 'object' } } } }],
    });
  });

  test('a dropped user field is named', () => {
    expect(encode({ user: 'u' }).dropped).toEqual(['user']);
  });

  test('one call at a time: in the model’s own words, or dropped and named', () => {
    const request = { tools: [WEATHER], parallelToolCalls: false };
    expect(bodyOf(request).additionalModelRequestFields).toEqual({
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    });
    const named = bodyOf({ ...request, toolChoice: { type: 'tool', name: 'weather' } });
    expect(named.additionalModelRequestFields).toEqual({
      tool_choice: { type: 'tool', name: 'weather', disable_parallel_tool_use: true },
    });
    expect((named.toolConfig as JsonObject).toolChoice).toBeUndefined();
    // Others may call several at once, which is told.
    expect(encode(request, { model: NOVA }).dropped).toEqual(['parallel_tool_calls']);
  });

  test("vendors' built-in tools are left out and named, or refused where they are demanded", () => {
    const tools = [{ type: 'raw', format: 'openai-chat', value: { type: 'web_search' } }] as const;
    expect(encode({ tools }).dropped).toEqual(['tools.web_search']);
    expect(paramRefused({ tools, toolChoice: { type: 'required' } })).toBe('tools.web_search');
  });
});

const SCHEMA = { type: 'object', properties: { city: { type: 'string', minLength: 2 } }, required: ['city'] };
const format = { type: 'json_schema' as const, name: 'city', schema: SCHEMA };
const priced = { provider: 'bedrock', model: 'm', mode: 'chat', prices: {}, capabilities: ['response_schema'] };

describe('structured output', () => {
  test('native where the model has it', () => {
    const { outputConfig, toolConfig } = bodyOf({ responseFormat: format }, { priced });
    const { textFormat } = outputConfig as { textFormat: { structure: { jsonSchema: JsonObject } } };
    const { schema, name } = textFormat.structure.jsonSchema;
    expect(name).toBe('city');
    expect(JSON.parse(String(schema))).toEqual({
      type: 'object',
      properties: { city: { type: 'string', description: '{minLength: 2}' } },
      required: ['city'],
      additionalProperties: false,
    });
    expect(toolConfig).toBeUndefined();
  });

  test('a forced tool, or words, elsewhere', () => {
    const forced = bodyOf({ responseFormat: format }, { model: NOVA, priced });
    expect(forced.toolConfig).toMatchObject({
      tools: [{ toolSpec: { name: 'llm0_json_answer', inputSchema: { json: SCHEMA } } }],
      toolChoice: { tool: { name: 'llm0_json_answer' } },
    });
    const beside = bodyOf({ responseFormat: format, tools: [WEATHER] }, { model: NOVA });
    expect((beside.toolConfig as JsonObject).toolChoice).toEqual({ any: {} });
    const words = bodyOf({ responseFormat: format }, { model: LLAMA, priced });
    expect(JSON.stringify(words.system)).toContain('JSON schema');
    expect(bodyOf({ responseFormat: { type: 'json_object' } }).system).toHaveLength(1);
  });
});

describe('limits, sampling and reasoning', () => {
  test('limits: the request’s, at most the model’s; without one the model’s own', () => {
    const limited = { ...priced, maxOutputTokens: 500 };
    expect(bodyOf({ maxOutputTokens: 900 }, { priced: limited }).inferenceConfig).toEqual({ maxTokens: 500 });
    expect(bodyOf({}, { priced: limited }).inferenceConfig).toEqual({ maxTokens: 500 });
    expect(bodyOf({}, { outputLimit: 7 }).inferenceConfig).toEqual({ maxTokens: 7 });
    expect(bodyOf({}, { model: LLAMA }).inferenceConfig).toBeUndefined();
  });

  test('temperature 0 stays, 2 is clamped; top_p and stops; top_k where the model has it', () => {
    const request = { temperature: 0, topP: 0.5, stop: ['END', ''], maxOutputTokens: 5 };
    const sampling = { maxTokens: 5, temperature: 0, topP: 0.5, stopSequences: ['END'] };
    expect(bodyOf(request).inferenceConfig).toEqual(sampling);
    expect(bodyOf({ temperature: 2 }, { model: LLAMA }).inferenceConfig).toEqual({ temperature: 1 });
    expect(bodyOf({ topK: 5 }).additionalModelRequestFields).toEqual({ top_k: 5 });
    expect(bodyOf({ topK: 5 }, { model: NOVA }).additionalModelRequestFields).toEqual({ inferenceConfig: { topK: 5 } });
    expect(paramRefused({ topK: 5 }, { model: LLAMA })).toBe('top_k');
  });

  test.each<[string, JsonObject]>([
    [HAIKU, { thinking: { type: 'enabled', budget_tokens: 4096 } }],
    ['us.anthropic.claude-sonnet-4-6', { thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } }],
    ['amazon.nova-2-lite-v1:0', { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } }],
    ['openai.gpt-oss-120b-1:0', { reasoning_effort: 'medium' }],
  ])('reasoning of %s', (model, expected) => {
    expect(bodyOf({ reasoningEffort: 'medium' }, { model }).additionalModelRequestFields).toEqual(expected);
  });

  test.each<[number, string]>([
    [1024, 'low'],
    [8192, 'medium'],
  ])('a budget of %i thinking tokens is an effort where the model takes efforts only', (budget_tokens, effort) => {
    const thinking = { type: 'enabled', budget_tokens };
    const fields = (model: string) =>
      bodyOf({ thinking, maxOutputTokens: 9000 }, { model }).additionalModelRequestFields;
    expect(fields(NOVA_2)).toEqual({ reasoningConfig: { type: 'enabled', maxReasoningEffort: effort } });
    expect(fields('openai.gpt-oss-120b-1:0')).toEqual({ reasoning_effort: effort });
  });

  test('thinking left to a model that must be told, and switched off', () => {
    const fields = (type: string) => bodyOf({ thinking: { type } }, { model: NOVA_2 }).additionalModelRequestFields;
    expect(fields('adaptive')).toEqual({ reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } });
    expect(fields('disabled')).toBeUndefined();
  });

  test('the highest effort of Nova goes alone; beside a limit the next one is asked for, and told', () => {
    const high = { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } };
    const limited = { ...priced, maxOutputTokens: 500 };
    const alone = bodyOf({ reasoningEffort: 'high' }, { model: NOVA_2, priced: limited });
    expect([alone.additionalModelRequestFields, alone.inferenceConfig]).toEqual([high, undefined]);
    for (const more of [{ maxOutputTokens: 900 }, { temperature: 0 }, { topP: 0.5 }]) {
      const { body, dropped } = encode({ reasoningEffort: 'high', ...more }, { model: NOVA_2 });
      expect(JSON.parse(String(body)).additionalModelRequestFields.reasoningConfig.maxReasoningEffort).toBe('medium');
      expect(dropped).toEqual(['reasoning_effort']);
    }
    const thinking = { type: 'enabled', budget_tokens: 20_000 };
    expect(encode({ thinking, maxOutputTokens: 30_000 }, { model: NOVA_2 }).dropped).toEqual(['thinking']);
    const strict = bodyOf({ reasoningEffort: 'high' }, { model: NOVA_2, outputLimit: 7 });
    expect(strict.inferenceConfig).toEqual({ maxTokens: 7 });
  });

  test('the first generation of Nova does not think', () => {
    expect(paramRefused({ reasoningEffort: 'low' }, { model: NOVA })).toBe('reasoning_effort');
    expect(paramRefused({ thinking: { type: 'enabled', budget_tokens: 1024 } }, { model: NOVA })).toBe('thinking');
  });

  test('models without reasoning refuse it; what is switched off asks for nothing', () => {
    expect(paramRefused({ reasoningEffort: 'low' }, { model: LLAMA })).toBe('reasoning_effort');
    expect(bodyOf({ reasoningEffort: 'none' }, { model: LLAMA }).additionalModelRequestFields).toBeUndefined();
  });

  test('thinking allows no other temperature than its default', () => {
    const body = bodyOf({ reasoningEffort: 'low', temperature: 1, maxOutputTokens: 8000 });
    expect(body.inferenceConfig).toEqual({ maxTokens: 8000 });
  });

  test('service tiers, guardrails and the model’s own fields go through; unknown fields do not', () => {
    const guardrailConfig = { guardrailIdentifier: 'g', guardrailVersion: '1' };
    const own = { additionalModelRequestFields: { top_k: 9, x: 1 }, guardrailConfig };
    expect(bodyOf({ serviceTier: 'flex', topK: 5, extra: own })).toMatchObject({
      serviceTier: { type: 'flex' },
      guardrailConfig,
      additionalModelRequestFields: { top_k: 9, x: 1 },
    });
    expect(paramRefused({ serviceTier: 'scale' })).toBe('service_tier');
    expect(paramRefused({ extra: { mcp_servers: [{}] } })).toBe('mcp_servers');
    for (const [field, name] of [
      ['n', 'n'],
      ['seed', 'seed'],
      ['frequencyPenalty', 'frequency_penalty'],
    ] as const) {
      expect(paramRefused({ [field]: 2 })).toBe(name);
    }
    expect(encode({ n: 2, seed: 5 }, { dropParams: true }).dropped).toEqual(['n', 'seed']);
  });
});

describe('errors by the name of the exception', () => {
  test.each([
    [400, 'ServiceQuotaExceededException:http://x/', 'rate_limited'],
    [403, 'ExpiredTokenException', 'auth'],
    [403, 'AccessDeniedException', 'auth'],
    [424, 'ModelErrorException', 'server_error'],
    [408, 'ModelTimeoutException', 'server_error'],
    [429, 'ModelNotReadyException', 'server_error'],
    [400, 'ValidationException', 'rejected'],
  ] as const)('%d %s is %s', (status, name, failure) => {
    const headers = new Headers({ 'x-amzn-errortype': name });
    const error = bedrock.decodeError(status, headers, '{"message":"words"}');
    expect([error.failure, error.message]).toEqual([failure, expect.stringContaining('words')]);
  });

  test('a model that is not there', () => {
    const body = JSON.stringify({ message: 'The provided model identifier is invalid.' });
    expect(bedrock.decodeError(400, new Headers(), body).failure).toBe('not_found');
  });
});
