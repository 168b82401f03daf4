import { createUsageReader, limitOf, type NativeShape, type PassthroughPart } from '../passthrough';
import { readInputUsage } from '../translation/read-counts';
import { asObject } from '../translation/read-json';
import { ChatDecoder } from './decode-chunk';
import { decodeUsage } from './decode-usage';
import { keyHeaders, rootOf } from './endpoint';

/** Source: https://docs.cohere.com/reference/chat */
const CHAT: NativeShape = {
  path: /^\/v2\/chat$/,
  outputLimit: (body) => limitOf(body, 'max_tokens'),
  tellsCost: () => true,
  boundedFields: new Set([
    ...['model', 'messages', 'tools', 'tool_choice', 'strict_tools', 'documents', 'citation_options', 'safety_mode'],
    ...['response_format', 'max_tokens', 'stop_sequences', 'temperature', 'seed', 'frequency_penalty', 'k', 'p'],
    ...['presence_penalty', 'logprobs', 'thinking', 'priority', 'stream'],
  ]),
  createReader: () => {
    const decoder = new ChatDecoder({ messages: [] });
    return createUsageReader((value) => decodeUsage(value.usage ?? asObject(value.delta)?.usage), {
      decode: (value, events) =>
        value.type === undefined ? decoder.decodeWhole(value, events) : decoder.decode(value, events),
    });
  },
};

/** Texts only: images have a price of their own. Source: https://docs.cohere.com/reference/embed */
const EMBED: NativeShape = {
  path: /^\/v2\/embed$/,
  isInputOnly: true,
  outputLimit: () => 0,
  tellsCost: () => true,
  boundedFields: new Set([
    ...['model', 'texts', 'input_type', 'embedding_types', 'output_dimension', 'max_tokens', 'truncate', 'priority'],
  ]),
  createReader: () => createUsageReader((value) => readInputUsage(asObject(value.meta)?.billed_units)),
};

/** The vendor's native API, from the host's root. */
export const passthrough: PassthroughPart = {
  root: rootOf,
  signsBody: () => false,
  authorize: (_request, connection) => ({ ...keyHeaders(connection), ...connection.headers }),
  shapes: [CHAT, EMBED],
  nativeOnly: /^\/v2\/(?:chat|embed)$/,
};
