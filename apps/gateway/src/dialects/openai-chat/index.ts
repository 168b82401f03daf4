import type { Dialect } from '../dialect';
import { decodeRequest } from './decode-request';
import { encodeError } from './encode-error';
import { encodeLargeResponse, encodeResponse } from './encode-response';
import { ChatStreamEncoder } from './encode-stream';

/** `POST /v1/chat/completions`. */
export const openaiChat: Dialect = {
  name: 'openai-chat',
  wireFormat: 'openai-chat',
  decodeRequest,
  encodeResponse,
  encodeLargeResponse,
  createStreamEncoder: (context) => new ChatStreamEncoder(context),
  encodeError,
};
