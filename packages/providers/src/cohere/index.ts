import type { Provider } from '../provider';
import { decodeError } from './decode-error';
import { decodeResponse } from './decode-response';
import { createStreamDecoder } from './decode-stream';
import { embeddings } from './embeddings';
import { encodeRequest } from './encode-request';
import { probeEndpoint } from './endpoint';
import { passthrough } from './passthrough';
import { rerank } from './tasks/rerank';
import { PROVIDER } from './wire';

/**
 * Cohere's own API (v2). The compatible one documents neither `tool_choice` nor `top_k`, nor thinking by budget, nor
 * an embedding's `input_type`, and reports other counts than it bills.
 */
export const cohere: Provider = {
  name: PROVIDER,
  wireFormat: 'cohere-chat',
  defaultBaseUrl: 'https://api.cohere.com',
  isFree: false,
  modelPatterns: [/^command(?:$|-)/, /^c4ai-/, /^(?:embed|rerank)-(?:v\d|english|multilingual)/],
  encodeRequest,
  decodeResponse,
  createStreamDecoder,
  decodeError: (status, headers, body) => decodeError({ status, headers, body }),
  probeUrl: probeEndpoint,
  embeddings,
  tasks: { rerank },
  passthrough,
};
