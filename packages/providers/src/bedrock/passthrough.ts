import { countText, createUsageReader, limitOf, type NativeShape, type PassthroughPart } from '../passthrough';
import { asObject } from '../translation/read-json';
import { decodeUsage } from './decode-usage';
import { authorize, isBearer, regionOf, runtimeRoot } from './endpoint';

/** Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html */
const CONVERSE: NativeShape = {
  path: /^\/model\/(?<model>[^/]+)\/converse(?:-stream)?$/,
  outputLimit: (body) => limitOf(asObject(body.inferenceConfig), 'maxTokens'),
  tellsCost: () => true,
  boundedFields: new Set(['messages', 'system', 'toolConfig', 'inferenceConfig', 'requestMetadata', 'serviceTier']),
  createReader: () =>
    createUsageReader({
      readUsage: (value) => decodeUsage(value.usage, value.serviceTier),
      readText: (value) => countText(value.delta) + countText(asObject(value.output)),
    }),
};

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
