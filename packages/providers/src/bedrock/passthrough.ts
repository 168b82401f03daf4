import type { JsonObject } from '@llm0/core/chat/json';
import { createUsageReader, limitOf, type NativeShape, type PassthroughPart } from '../passthrough';
import { asObject, asObjects } from '../translation/read-json';
import { ConverseDecoder } from './decode-chunk';
import { decodeUsage } from './decode-usage';
import { authorize, isBearer, regionOf, runtimeRoot } from './endpoint';

/** Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html */
const CONVERSE: NativeShape = {
  path: /^\/model\/(?<model>[^/]+)\/converse(?:-stream)?$/,
  outputLimit: (body) => limitOf(asObject(body.inferenceConfig), 'maxTokens'),
  tellsCost: () => true,
  boundedFields: new Set(['messages', 'system', 'toolConfig', 'inferenceConfig', 'requestMetadata', 'serviceTier']),
  createReader: () => {
    const decoder = new ConverseDecoder({ messages: [] });
    return createUsageReader((value) => decodeUsage(value.usage, value.serviceTier), {
      decode: (value, events) => {
        const message = asObject(asObject(value.output)?.message);
        if (message !== undefined) decoder.decodeWhole(value, asObjects(message.content), events);
        else decoder.decode({ [eventName(value)]: value }, events);
      },
    });
  },
};

/** Names of events by a field of theirs: a frame's name is in its header. */
const EVENTS = {
  delta: 'contentBlockDelta',
  start: 'contentBlockStart',
  contentBlockIndex: 'contentBlockStop',
} as const;

function eventName(value: JsonObject): string {
  const field = Object.keys(EVENTS).find((name) => value[name] !== undefined);
  return field === undefined
    ? value.stopReason === undefined
      ? 'metadata'
      : 'messageStop'
    : EVENTS[field as keyof typeof EVENTS];
}

/** The runtime's native API. Signatures cover the whole body, so that it is not streamed. */
export const passthrough: PassthroughPart = {
  root: (connection) => runtimeRoot(connection),
  signsBody: (connection) => !isBearer(connection),
  authorize: ({ url, method, headers, body }, connection) => ({
    ...authorize({ url, method, headers, body: body ?? '', region: regionOf(connection) }, connection),
    ...connection.headers,
  }),
  shapes: [CONVERSE],
};
