import { isPlainMessage } from '@llm0/providers/claude/native-blocks';
import type { Dialect } from '../dialect';
import { decodeCountRequest, decodeRequest } from './decode-request';
import { encodeCount } from './encode-count';
import { encodeError } from './encode-error';
import { modelShape } from './encode-models';
import { encodeLargeResponse, encodeResponse } from './encode-response';
import { MessageStreamEncoder } from './encode-stream';

/** `POST /v1/messages`. */
export const anthropicMessages: Dialect = {
  name: 'anthropic-messages',
  wireFormat: 'anthropic-messages',
  requestIdHeader: 'request-id',
  models: modelShape,
  ownParts: {
    ...{ begins: 'content_block_start', member: 'content_block', foreign: ['"citations_delta"'] },
    isPlain: isPlainMessage,
  },
  decodeRequest,
  encodeResponse,
  encodeLargeResponse,
  createStreamEncoder: (context) => new MessageStreamEncoder(context),
  encodeError,
};

/** `POST /v1/messages/count_tokens`: the same request, with a number as the answer. */
export const anthropicCount: Dialect = {
  ...anthropicMessages,
  decodeRequest: decodeCountRequest,
  encodeResponse: encodeCount,
};
