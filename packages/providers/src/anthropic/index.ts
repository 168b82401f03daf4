import type { Provider } from '../provider';
import { batches } from './batches';
import { decodeError } from './decode-error';
import { decodeResponse } from './decode-response';
import { createStreamDecoder } from './decode-stream';
import { encodeRequest } from './encode-request';
import { probeEndpoint } from './endpoint';
import { passthrough } from './passthrough';
import { PROVIDER, WIRE_FORMAT } from './wire';

/** The Messages API. */
export const anthropic: Provider = {
  name: PROVIDER,
  wireFormat: WIRE_FORMAT,
  defaultBaseUrl: 'https://api.anthropic.com',
  isFree: false,
  countsTokens: true,
  modelPatterns: [/^claude-/],
  encodeRequest,
  decodeResponse,
  createStreamDecoder,
  decodeError: (status, headers, body) => decodeError({ status, headers, body }),
  probeUrl: probeEndpoint,
  batches,
  passthrough,
};
