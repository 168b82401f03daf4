import type { ChatRequest } from '@llm0/core/chat/request';
import type { StreamDecoder } from '../provider';
import { PayloadStreamDecoder } from '../transport/payload-stream-decoder';
import { ChatDecoder } from './decode-chunk';
import { PROVIDER } from './wire';

/** Source: https://docs.cohere.com/reference/chat-stream */
export function createStreamDecoder(request: ChatRequest): StreamDecoder {
  return new PayloadStreamDecoder(PROVIDER, new ChatDecoder(request));
}
