import type { ChatRequest } from '@llm0/core/chat/request';
import type { StreamDecoder } from '../provider';
import { PayloadStreamDecoder } from '../transport/payload-stream-decoder';
import { ContentDecoder } from './decode-chunk';
import { PROVIDER } from './wire';

/** Source: https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent */
export function createStreamDecoder(request: ChatRequest): StreamDecoder {
  return new PayloadStreamDecoder(PROVIDER, new ContentDecoder(request));
}
