import type { JsonObject } from '@llm0/core/chat/json';
import { countText, createUsageReader, limitOf, type NativeShape, type PassthroughPart } from '../passthrough';
import { asObject, asObjects } from '../translation/read-json';
import { decodeUsage, mergeUsage } from './decode-usage';
import { API_VERSION } from './endpoint';

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
    let merged: JsonObject = {};
    return createUsageReader({
      readUsage: (value) => {
        const update = asObject(value.message)?.usage ?? value.usage;
        if (asObject(update) === undefined) return undefined;
        merged = mergeUsage(merged, update);
        return decodeUsage(merged);
      },
      readText: (value) =>
        value.type === 'content_block_delta'
          ? countText(asObject(value.delta))
          : countText(asObjects(value.content).map(({ text }) => text ?? null)),
    });
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
    ...(connection.apiKey === undefined ? {} : { 'x-api-key': connection.apiKey }),
    ...connection.headers,
  }),
  shapes: [MESSAGES, COUNT],
  nativeOnly: NATIVE_ONLY,
};
