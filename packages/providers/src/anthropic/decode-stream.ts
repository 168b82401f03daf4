import type { ChatRequest } from '@llm0/core/chat/request';
import type { StreamDecoder } from '../provider';
import { PayloadStreamDecoder } from '../transport/payload-stream-decoder';
import { MessageDecoder } from './decode-chunk';
import { PROVIDER } from './wire';

/** Source: https://platform.claude.com/docs/en/build-with-claude/streaming */
export function createStreamDecoder(request: ChatRequest): StreamDecoder {
  return new PayloadStreamDecoder(PROVIDER, new MessageDecoder(request));
}
