import type { Dialect } from '../dialect';
import { encodeError } from '../openai-chat/encode-error';
import { decodeCompletionRequest } from './decode-completion-request';
import { encodeLargeResponse, encodeResponse } from './encode-response';
import { CompletionStreamEncoder } from './encode-stream';

/** `POST /v1/completions`: text is continued. */
export const openaiCompletions: Dialect = {
  name: 'openai-completions',
  wireFormat: 'openai-completions',
  decodeRequest: decodeCompletionRequest,
  encodeResponse,
  encodeLargeResponse,
  createStreamEncoder: (context) => new CompletionStreamEncoder(context),
  encodeError,
};
