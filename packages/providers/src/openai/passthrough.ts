import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { createUsageReader, limitOf, type NativeShape, type PassthroughPart, timesCount } from '../passthrough';
import { readInputUsage } from '../translation/read-counts';
import { asObject } from '../translation/read-json';
import { withChoices } from './completions/decode-answer';
import { ChunkDecoder } from './decode-chunk';
import { decodeUsage } from './decode-usage';
import { keyHeaders } from './endpoint';
import { ResponsesDecoder } from './responses/decode-stream';

const SAMPLING = ['temperature', 'top_p', 'seed', 'stop', 'user', 'metadata', 'stream', 'store', 'n'] as const;

/** Streams report usage on request. */
function askForUsage(body: JsonObject): JsonObject {
  if (body.stream !== true || asObject(body.stream_options)?.include_usage === true) return body;
  return { ...body, stream_options: { ...asObject(body.stream_options), include_usage: true } };
}

/** Path after the API's prefix. */
type Endpoint = Omit<NativeShape, 'path'> & { readonly path: string };

/** Chat Completions. */
const CHAT: Endpoint = {
  path: 'chat/completions',
  outputLimit: (body) => timesCount(limitOf(body, 'max_completion_tokens', 'max_tokens'), body.n),
  askForUsage,
  tellsCost: (body) => body.stream !== true || asObject(body.stream_options)?.include_usage === true,
  boundedFields: new Set([
    ...[
      'model',
      'models',
      'messages',
      'tools',
      'tool_choice',
      'parallel_tool_calls',
      'response_format',
      'stream_options',
    ],
    ...['max_tokens', 'max_completion_tokens', 'reasoning_effort', 'frequency_penalty', 'presence_penalty'],
    ...['logit_bias', 'logprobs', 'top_logprobs', ...SAMPLING],
  ]),
  createReader: () =>
    createUsageReader((value) => decodeUsage(value.usage, value.service_tier, value.tool_usage), new ChunkDecoder()),
};

/** Completions, with suffixes and without. */
const COMPLETIONS: Endpoint = {
  ...CHAT,
  format: 'openai-completions',
  path: '(?:fim/)?completions',
  outputLimit: (body) =>
    timesCount(timesCount(limitOf(body, 'max_tokens'), body.n, body.best_of), countPrompts(body.prompt)),
  boundedFields: new Set([
    ...['model', 'prompt', 'suffix', 'max_tokens', 'best_of', 'echo', 'logprobs', 'logit_bias', 'stream_options'],
    ...['frequency_penalty', 'presence_penalty', ...SAMPLING],
  ]),
  createReader: () => {
    const chunks = new ChunkDecoder();
    return createUsageReader((value) => decodeUsage(value.usage), {
      decode: (value, events) => chunks.decode(withChoices(value, 'delta'), events),
    });
  },
};

const countPrompts = (prompt: JsonValue | undefined): number =>
  Array.isArray(prompt) && typeof prompt[0] !== 'number' ? prompt.length : 1;

/** The Responses API. */
const RESPONSES: Endpoint = {
  path: 'responses',
  format: 'openai-responses',
  outputLimit: (body) => limitOf(body, 'max_output_tokens'),
  tellsCost: (body) => body.background !== true,
  boundedFields: new Set([
    ...['model', 'input', 'instructions', 'tools', 'tool_choice', 'parallel_tool_calls', 'text', 'max_output_tokens'],
    ...['reasoning', 'include', 'truncation', 'top_logprobs', ...SAMPLING],
  ]),
  createReader: () => {
    const decoder = new ResponsesDecoder('');
    return createUsageReader(
      (value) => {
        const answer = asObject(value.response) ?? value;
        return decodeUsage(answer.usage, answer.service_tier, answer.tool_usage);
      },
      {
        decode: (value, events) =>
          decoder.decode(value.type === undefined ? { type: 'response.completed', response: value } : value, events),
      },
    );
  },
};

const EMBEDDINGS: Endpoint = {
  path: 'embeddings',
  isInputOnly: true,
  outputLimit: () => 0,
  tellsCost: () => true,
  boundedFields: new Set(['model', 'input', 'encoding_format', 'dimensions', 'user']),
  createReader: () => createUsageReader((value) => readInputUsage(value.usage)),
};

const NATIVE_ONLY =
  /^\/v1\/(?:images|audio|files|uploads|batches|moderations|fine_tuning|vector_stores|videos|containers|evals|conversations|assistants|threads|realtime)(?:\/|$)/;

/** The endpoints under a prefix, which may name the model. */
export function shapesUnder(prefix: string): readonly NativeShape[] {
  const endpoints = [CHAT, COMPLETIONS, RESPONSES, EMBEDDINGS];
  return endpoints.map((endpoint) => ({ ...endpoint, path: new RegExp(`^${prefix}/${endpoint.path}$`) }));
}

/** The native API of a compatible server; the caller's path follows the base URL. */
export const passthrough: PassthroughPart = {
  root: ({ baseUrl }) => baseUrl.replace(/\/+$/, ''),
  signsBody: () => false,
  authorize: (_request, connection) => ({ ...keyHeaders(connection), ...connection.headers }),
  shapes: shapesUnder('(?:/v1)?'),
  nativeOnly: NATIVE_ONLY,
};

/** Servers that refuse `stream_options` and report usage anyway. */
export const untoldPassthrough: PassthroughPart = {
  ...passthrough,
  shapes: passthrough.shapes.map(({ askForUsage: _asked, ...shape }) =>
    _asked === undefined ? shape : { ...shape, tellsCost: () => true },
  ),
};
