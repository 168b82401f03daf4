import type { EventBatch } from '@llm0/core/chat/event';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { EncodeContext, UpstreamRequest } from './provider-request';
import type { StreamDecoder } from './stream-decoder';
import type { AnswerBody } from './translation/read-json';

/** Text completion of a provider; for other models, the prompt becomes a chat message. */
export interface CompletionsPart {
  serves(context: Pick<EncodeContext, 'model' | 'priced'>): boolean;
  /** Accepts several prompts or tokens; otherwise each prompt is a separate text call. */
  readonly takesMany: boolean;
  /** Begins answers with their prompts by itself. */
  readonly echoes: boolean;
  /** `request.prompt` is set. Throws `unsupported_parameter` unless `dropParams`. */
  encodeRequest(request: ChatRequest, context: EncodeContext): UpstreamRequest;
  decodeResponse(body: AnswerBody): EventBatch;
  createStreamDecoder(): StreamDecoder;
}
