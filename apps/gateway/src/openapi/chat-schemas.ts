import {
  arrayOf,
  COUNT,
  FLAG,
  METADATA,
  MODEL,
  NUMBER,
  nullable,
  OBJECT,
  oneOfTexts,
  openObject,
  type Part,
  STREAM,
  schemaRef,
  TEXT,
} from './document-parts';

const anyOf = (...schemas: readonly Part[]): Part => ({ anyOf: schemas });
const CHAT_MODEL = { ...MODEL, examples: ['gpt-4o-mini'] } as const;

const usage = openObject(
  {
    prompt_tokens: COUNT,
    completion_tokens: COUNT,
    total_tokens: COUNT,
    prompt_tokens_details: nullable('object'),
    completion_tokens_details: nullable('object'),
  },
  ['prompt_tokens', 'completion_tokens', 'total_tokens'],
);

const message = openObject(
  {
    role: oneOfTexts('system', 'developer', 'user', 'assistant', 'tool', 'function'),
    content: anyOf(TEXT, arrayOf(OBJECT), { type: 'null' }),
    name: TEXT,
    tool_calls: arrayOf(OBJECT),
    tool_call_id: TEXT,
  },
  ['role'],
);

/** The formats of OpenAI's clients; unlisted fields reach a vendor of the same format. */
export const CHAT_SCHEMAS: Readonly<Record<string, Part>> = {
  ChatCompletionRequest: openObject(
    {
      model: CHAT_MODEL,
      messages: arrayOf(message, { minItems: 1 }),
      stream: STREAM,
      stream_options: openObject({ include_usage: FLAG }),
      max_completion_tokens: COUNT,
      max_tokens: COUNT,
      temperature: nullable('number'),
      top_p: nullable('number'),
      n: nullable('integer'),
      stop: anyOf(TEXT, arrayOf(TEXT), { type: 'null' }),
      tools: arrayOf(OBJECT),
      tool_choice: anyOf(TEXT, OBJECT),
      response_format: OBJECT,
      reasoning_effort: nullable('string'),
      seed: nullable('integer'),
      user: TEXT,
      metadata: nullable('object'),
    },
    ['model', 'messages'],
  ),
  ChatCompletion: openObject(
    {
      id: TEXT,
      object: { const: 'chat.completion' },
      created: COUNT,
      model: TEXT,
      choices: arrayOf(
        openObject(
          {
            index: COUNT,
            message: openObject(
              { role: TEXT, content: nullable('string'), refusal: nullable('string'), tool_calls: arrayOf(OBJECT) },
              ['role', 'content'],
            ),
            finish_reason: nullable('string'),
          },
          ['index', 'message', 'finish_reason'],
        ),
      ),
      usage,
      ...METADATA,
    },
    ['id', 'object', 'created', 'model', 'choices', 'usage', 'latency_ms', 'cost_usd'],
  ),
  ChatCompletionChunk: openObject(
    {
      id: TEXT,
      object: { const: 'chat.completion.chunk' },
      created: COUNT,
      model: TEXT,
      choices: arrayOf(
        openObject({ index: COUNT, delta: OBJECT, finish_reason: nullable('string') }, ['index', 'delta']),
      ),
      usage: anyOf(usage, { type: 'null' }),
      provider: { type: 'string', description: 'Fields of the last chunk' },
      cache: oneOfTexts('exact', 'semantic', 'miss'),
      ...METADATA,
    },
    ['id', 'object', 'created', 'model', 'choices'],
    {
      description:
        'The last chunk before `data: [DONE]` has `usage`, `cost_usd`, `latency_ms`, `provider` and `cache`; with ' +
        '`stream_options.include_usage` its `choices` are empty, else one empty delta.',
    },
  ),
  CompletionRequest: openObject(
    {
      model: CHAT_MODEL,
      prompt: anyOf(TEXT, arrayOf(anyOf(TEXT, { type: 'integer' }, arrayOf({ type: 'integer' })))),
      suffix: nullable('string'),
      max_tokens: nullable('integer'),
      temperature: nullable('number'),
      n: nullable('integer'),
      stream: STREAM,
      stop: anyOf(TEXT, arrayOf(TEXT), { type: 'null' }),
    },
    ['model', 'prompt'],
  ),
  Completion: openObject(
    {
      id: TEXT,
      object: { const: 'text_completion' },
      created: COUNT,
      model: TEXT,
      choices: arrayOf(openObject({ index: COUNT, text: TEXT, finish_reason: nullable('string') }, ['index', 'text'])),
      usage,
      ...METADATA,
    },
    ['id', 'object', 'created', 'model', 'choices', 'usage', 'cost_usd'],
  ),
  EmbeddingRequest: openObject(
    {
      model: CHAT_MODEL,
      input: anyOf(TEXT, arrayOf(anyOf(TEXT, { type: 'integer' }, arrayOf({ type: 'integer' })), { minItems: 1 })),
      encoding_format: oneOfTexts('float', 'base64'),
      dimensions: COUNT,
      user: TEXT,
    },
    ['model', 'input'],
  ),
  Embeddings: openObject(
    {
      object: { const: 'list' },
      data: arrayOf(
        openObject({ object: { const: 'embedding' }, index: COUNT, embedding: anyOf(arrayOf(NUMBER), TEXT) }, [
          ...['object', 'index', 'embedding'],
        ]),
      ),
      model: TEXT,
      usage: openObject({ prompt_tokens: COUNT, total_tokens: COUNT }, ['prompt_tokens', 'total_tokens']),
      ...METADATA,
    },
    ['object', 'data', 'model', 'usage', 'cost_usd'],
  ),
  ResponseRequest: openObject(
    {
      model: CHAT_MODEL,
      input: anyOf(TEXT, arrayOf(OBJECT)),
      instructions: nullable('string'),
      previous_response_id: nullable('string'),
      store: nullable('boolean'),
      stream: STREAM,
      max_output_tokens: nullable('integer'),
      tools: arrayOf(OBJECT),
      reasoning: nullable('object'),
      text: OBJECT,
    },
    ['model'],
  ),
  Response: openObject(
    {
      id: TEXT,
      object: { const: 'response' },
      created_at: NUMBER,
      status: TEXT,
      model: TEXT,
      output: arrayOf(openObject({ type: TEXT }, ['type'])),
      usage: nullable('object'),
      ...METADATA,
    },
    ['id', 'object', 'created_at', 'status', 'model', 'output'],
  ),
  ResponseDeleted: openObject({ id: TEXT, object: TEXT, deleted: FLAG }, ['id', 'deleted']),
  ResponseInputItems: openObject({ object: { const: 'list' }, data: arrayOf(OBJECT) }, ['object', 'data']),
  Model: openObject({ id: TEXT, object: { const: 'model' }, created: COUNT, owned_by: TEXT }, [
    ...['id', 'object', 'created', 'owned_by'],
  ]),
  Models: openObject({ object: { const: 'list' }, data: arrayOf(schemaRef('Model')) }, ['object', 'data']),
};
