import type { Json } from './edge-values';

/** A request that is in order. */
export interface SampleRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: Json;
  /** Whose credentials it brings. */
  readonly as: 'key' | 'admin';
}

const TOOL = {
  name: 'weather',
  description: 'Tells it',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
};
const IMAGE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const post = (path: string, body: Json): SampleRequest => ({ method: 'POST', path, body, as: 'key' });
const get = (path: string, method = 'GET'): SampleRequest => ({ method, path, as: 'key' });

const CHAT: Json = {
  ...{ model: 'gpt-4o-mini', max_tokens: 50, temperature: 0.5, top_p: 1, n: 1, stream: false, user: 'u', seed: 1 },
  ...{
    stop: ['x'],
    presence_penalty: 0,
    frequency_penalty: 0,
    logprobs: true,
    top_logprobs: 2,
    logit_bias: { 50256: -100 },
  },
  ...{ stream_options: { include_usage: true }, metadata: { a: 'b' }, service_tier: 'auto', parallel_tool_calls: true },
  ...{ response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' }, strict: true } } },
  ...{
    tools: [{ type: 'function', function: TOOL }],
    tool_choice: { type: 'function', function: { name: 'weather' } },
  },
  messages: [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      name: 'ann',
      content: [
        { type: 'text', text: 'What?' },
        { type: 'image_url', image_url: { url: IMAGE, detail: 'low' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } }],
    },
    { role: 'tool', tool_call_id: 'c', content: 'Sun' },
  ],
};
const MESSAGES: Json = {
  ...{ model: 'claude-haiku-4-5', max_tokens: 50, temperature: 0.5, top_k: 5, stream: false, stop_sequences: ['x'] },
  ...{
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    metadata: { user_id: 'u' },
  },
  ...{ tools: [{ name: 'weather', description: 'd', input_schema: TOOL.parameters }], tool_choice: { type: 'auto' } },
  ...{ thinking: { type: 'enabled', budget_tokens: 1024 } },
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What?' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0K' } },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 't', signature: 's' },
        { type: 'tool_use', id: 'c', name: 'weather', input: { city: 'Rome' } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'Sun', is_error: false }] },
  ],
};
const RESPONSES: Json = {
  ...{
    model: 'gpt-4o-mini',
    max_output_tokens: 50,
    temperature: 0.5,
    stream: false,
    store: true,
    instructions: 'Be brief.',
  },
  ...{
    reasoning: { effort: 'low', summary: 'auto' },
    text: { format: { type: 'text' }, verbosity: 'low' },
    include: [],
  },
  ...{
    tools: [{ type: 'function', ...TOOL, strict: true }],
    tool_choice: 'auto',
    truncation: 'auto',
    metadata: { a: 'b' },
  },
  ...{ previous_response_id: null, parallel_tool_calls: true },
  input: [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'What?' },
        { type: 'input_image', image_url: IMAGE },
      ],
    },
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 't' }], encrypted_content: 'e' },
    { type: 'function_call', call_id: 'c', name: 'weather', arguments: '{"city":"Rome"}' },
    { type: 'function_call_output', call_id: 'c', output: 'Sun' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Sun', annotations: [] }] },
  ],
};
const GEMINI: Json = {
  contents: [
    { role: 'user', parts: [{ text: 'What?' }, { inlineData: { mimeType: 'image/png', data: 'iVBORw0K' } }] },
    { role: 'model', parts: [{ functionCall: { name: 'weather', args: { city: 'Rome' } } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'weather', response: { sky: 'Sun' } } }] },
  ],
  ...{ systemInstruction: { parts: [{ text: 'Be brief.' }] }, tools: [{ functionDeclarations: [TOOL] }] },
  ...{ generationConfig: { maxOutputTokens: 50, temperature: 0.5, candidateCount: 1, stopSequences: ['x'] } },
  ...{ safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }] },
};
const COMPLETIONS: Json = {
  ...{
    model: 'gpt-4o-mini',
    prompt: ['Once', 'Twice'],
    suffix: 'end',
    max_tokens: 50,
    n: 1,
    best_of: 1,
    echo: false,
    logprobs: 1,
  },
  ...{ stream: false, stop: 'x', temperature: 0.5, user: 'u', logit_bias: {}, seed: 1 },
};
const EMBEDDINGS: Json = {
  ...{ model: 'text-embedding-3-small', input: ['one', 'two'], encoding_format: 'float', dimensions: 8, user: 'u' },
};
const rpc = (method: string, params: Json): Json => ({ jsonrpc: '2.0', id: 1, method, params });
const MODERN: Json = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'fuzz', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {}, url: {} } },
};
const CALL: Json = {
  name: 'web__search',
  arguments: { text: 'x', deep: { list: [1, 2] } },
  _meta: { progressToken: 7 },
};
const INITIALIZE: Json = {
  ...{ protocolVersion: '2025-11-25', capabilities: { sampling: {}, roots: {} } },
  clientInfo: { name: 'fuzz', version: '1' },
};
const as = (body: Json, more: { [name: string]: Json }): Json => ({ ...(body as object), ...more });

/** One of each that the data plane takes. What the admin API takes, its own description says. */
export const SAMPLES: readonly SampleRequest[] = [
  post('/v1/chat/completions', CHAT),
  post('/v1/chat/completions', as(CHAT, { stream: true })),
  post('/v1/chat/completions', as(CHAT, { model: 'claude-haiku-4-5' })),
  post('/v1/chat/completions', as(CHAT, { model: 'gemini-2.5-flash', stream: true })),
  post('/v1/messages', MESSAGES),
  post('/v1/messages', as(MESSAGES, { stream: true })),
  post('/v1/messages', as(MESSAGES, { model: 'gpt-4o-mini' })),
  post('/v1/messages/count_tokens', MESSAGES),
  post('/v1/responses', RESPONSES),
  post('/v1/responses', as(RESPONSES, { stream: true, model: 'claude-haiku-4-5' })),
  post('/v1/completions', COMPLETIONS),
  post('/v1/completions', as(COMPLETIONS, { stream: true, prompt: [1, 2, 3] })),
  post('/v1/rerank', { model: 'local/all-MiniLM-L6-v2', query: 'q', documents: ['one', { text: 'two' }], top_n: 1 }),
  post('/v1/moderations', { model: 'omni-moderation-latest', input: [{ type: 'text', text: 'x' }] }),
  post('/v1/images/generations', {
    ...{ model: 'gpt-image-2', prompt: 'p', n: 1, size: '1024x1024', quality: 'low', stream: true, partial_images: 1 },
    ...{ output_format: 'png', background: 'auto', user: 'u' },
  }),
  post('/v1/decisions', { model: 'gpt-4o-mini', input: 'x', questions: [{ type: 'predicate', name: 'n' }] }),
  post('/v1/embeddings', EMBEDDINGS),
  post('/v1/embeddings', as(EMBEDDINGS, { encoding_format: 'base64', input: [[1, 2], [3]] })),
  post('/v1beta/models/gemini-2.5-flash:generateContent', GEMINI),
  post('/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse', GEMINI),
  post('/v1beta/models/gemini-2.5-flash:countTokens', GEMINI),
  post('/passthrough/openai/v1/chat/completions', CHAT),
  post('/passthrough/anthropic/v1/messages', MESSAGES),
  post('/passthrough/gemini/v1beta/models/gemini-2.5-flash:generateContent', GEMINI),
  post('/passthrough/openai/v1/responses', RESPONSES),
  post('/mcp', rpc('initialize', INITIALIZE)),
  post('/mcp', rpc('tools/list', { cursor: 'x' })),
  post('/mcp', rpc('tools/call', CALL)),
  post('/mcp', rpc('tools/call', as(CALL, { _meta: MODERN }))),
  post('/mcp', rpc('server/discover', { _meta: MODERN })),
  post('/mcp', { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1, reason: 'x' } }),
  post('/mcp', rpc('resources/read', { uri: 'mcp.web+file:///x' })),
  post(
    '/mcp',
    rpc('completion/complete', { ref: { type: 'ref/prompt', name: 'web__p' }, argument: { name: 'a', value: 'b' } }),
  ),
  post('/mcp/web', rpc('tools/call', as(CALL, { name: 'search' }))),
  post('/mcp/web', rpc('prompts/get', { name: 'p', arguments: { a: 'b' } })),
  post('/mcp/code', rpc('tools/call', { name: 'search_tools', arguments: { query: 'pages' } })),
  post('/mcp/code', rpc('tools/call', { name: 'execute_code', arguments: { code: 'await tools.web.search({})' } })),
  get('/v1/models'),
  get('/v1/models/gpt-4o-mini'),
  get('/v1/responses/resp_123'),
  get('/v1/responses/resp_123', 'DELETE'),
  get('/v1/responses/resp_123/input_items?limit=20&order=asc'),
  ...['/livez', '/readyz', '/healthz', '/metrics', '/cachez', '/', '/v1', '/health'].map((path) => get(path)),
];
