import { createUsageReader, limitOf, type NativeShape, type PassthroughPart } from '../passthrough';
import { asObject } from '../translation/read-json';
import { MessageDecoder } from './decode-chunk';
import { MessageUsage } from './decode-usage';
import { API_VERSION, keyHeaders } from './endpoint';

const BOUNDED = new Set([
  ...['model', 'messages', 'system', 'tools', 'tool_choice', 'max_tokens', 'stream', 'stop_sequences', 'metadata'],
  ...['temperature', 'top_k', 'top_p', 'thinking', 'output_config', 'cache_control'],
]);

/** Source: https://platform.claude.com/docs/en/api/messages */
const MESSAGES: NativeShape = {
  path: /^(?:\/v1)?\/messages$/,
  outputLimit: (body) => limitOf(body, 'max_tokens'),
  tellsCost: () => true,
  boundedFields: BOUNDED,
  createReader: () => {
    const usage = new MessageUsage();
    const decoder = new MessageDecoder({ messages: [] });
    return createUsageReader(
      ({ message, usage: own }) =>
        asObject(message) === undefined ? usage.add(own, false) : usage.add(asObject(message)?.usage, true),
      {
        decode: (value, events) =>
          value.type === 'message' ? decoder.decodeWhole(value, events) : decoder.decode(value, events),
      },
    );
  },
};

const COUNT: NativeShape = { ...MESSAGES, path: /^(?:\/v1)?\/messages\/count_tokens$/, isFree: true };

const NATIVE_ONLY = /^\/v1\/(?:messages\/batches|skills|complete|organizations)(?:\/|$)/;

/** The vendor's native API, from the host's root. */
export const passthrough: PassthroughPart = {
  root: ({ baseUrl }) => baseUrl.replace(/\/+$/, ''),
  signsBody: () => false,
  authorize: ({ headers }, connection) => ({
    'anthropic-version': headers['anthropic-version'] ?? API_VERSION,
    ...keyHeaders(connection, headers['anthropic-beta'] === undefined ? [] : [headers['anthropic-beta']]),
    ...connection.headers,
  }),
  shapes: [MESSAGES, COUNT],
  nativeOnly: NATIVE_ONLY,
};
