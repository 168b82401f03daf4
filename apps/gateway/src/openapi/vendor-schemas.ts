import {
  arrayOf,
  COUNT,
  FLAG,
  METADATA,
  NUMBER,
  nullable,
  OBJECT,
  oneOfTexts,
  openObject,
  type Part,
  TEXT,
} from './document-parts';

const MESSAGES = {
  model: TEXT,
  messages: arrayOf(openObject({ role: oneOfTexts('user', 'assistant', 'system'), content: {} }, ['role', 'content'])),
  system: { anyOf: [TEXT, arrayOf(OBJECT)] },
  tools: arrayOf(OBJECT),
  tool_choice: OBJECT,
  thinking: OBJECT,
} as const;

/** Formats of other vendors' clients, MCP, and the pages for operators. */
export const VENDOR_SCHEMAS: Readonly<Record<string, Part>> = {
  MessageRequest: openObject(
    {
      ...MESSAGES,
      ...{ max_tokens: COUNT, stream: FLAG, temperature: NUMBER, stop_sequences: arrayOf(TEXT), metadata: OBJECT },
    },
    ['model', 'messages', 'max_tokens'],
  ),
  Message: openObject(
    {
      id: TEXT,
      type: { const: 'message' },
      role: { const: 'assistant' },
      model: TEXT,
      content: arrayOf(openObject({ type: TEXT }, ['type'])),
      stop_reason: nullable('string'),
      stop_sequence: nullable('string'),
      usage: openObject({ input_tokens: COUNT, output_tokens: COUNT }, ['input_tokens', 'output_tokens']),
      ...METADATA,
    },
    ['id', 'type', 'role', 'model', 'content', 'stop_reason', 'usage'],
  ),
  CountRequest: openObject(MESSAGES, ['model', 'messages']),
  Count: openObject({ input_tokens: COUNT }, ['input_tokens']),
  GeminiRequest: openObject(
    { contents: arrayOf(OBJECT), systemInstruction: OBJECT, tools: arrayOf(OBJECT), generationConfig: OBJECT },
    ['contents'],
  ),
  GeminiResponse: openObject({ candidates: arrayOf(OBJECT), usageMetadata: OBJECT, modelVersion: TEXT }),
  GeminiCount: openObject({ totalTokens: COUNT }, ['totalTokens']),
  RpcMessage: openObject(
    {
      jsonrpc: { const: '2.0' },
      id: { type: ['string', 'integer'] },
      method: { type: 'string', examples: ['tools/list', 'tools/call'] },
      params: OBJECT,
    },
    ['jsonrpc', 'method'],
  ),
  RpcAnswer: openObject(
    { jsonrpc: { const: '2.0' }, id: { type: ['string', 'integer', 'null'] }, result: OBJECT, error: OBJECT },
    ['jsonrpc'],
  ),
  Alive: openObject({ ok: FLAG }, ['ok']),
  Ready: openObject({ ok: FLAG, reason: TEXT, away: { type: 'array', items: TEXT }, backends: OBJECT }, ['ok']),
};
