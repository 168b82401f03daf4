import { isPlainStream } from '@llm0/providers/openai/responses/wire';
import type { Dialect } from '../dialect';
import { decodeRequest } from './decode-request';
import { encodeError } from './encode-error';
import { encodeLargeResponse, encodeResponse } from './encode-response';
import { ResponsesStreamEncoder } from './encode-stream';
import { storeResponses } from './store-responses';

/** `POST /v1/responses`. */
export const openaiResponses = {
  name: 'openai-responses',
  wireFormat: 'openai-responses',
  ownParts: {
    ...{ begins: 'response.output_item.added', member: 'item' },
    foreign: ['"response.output_text.annotation.added"', '"response.reasoning_text.delta"'],
    isPlain: isPlainStream,
  },
  responseStorage: storeResponses,
  decodeRequest,
  encodeResponse,
  encodeLargeResponse,
  createStreamEncoder: (context) => new ResponsesStreamEncoder(context),
  encodeError,
} as const satisfies Dialect;
