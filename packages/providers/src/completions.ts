import type { EventBatch } from '@llm0/core/chat/event';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { EncodeContext, UpstreamRequest } from './provider-request';
import type { StreamDecoder } from './stream-decoder';
import type { AnswerBody } from './translation/read-json';

/** Text completion of a provider; for other models, the prompt becomes a chat message. */
export interface CompletionsPart {
  serves(context: Pick<EncodeContext, 'model' | 'priced'>): boolean;
  /** Takes several prompts at once, and tokens; else each prompt is a call of its own, and must be text. */
  readonly takesMany: boolean;
  /** Begins answers with their prompts by itself. */
  readonly echoes: boolean;
  /** `request.prompt` is set. Throws `unsupported_parameter` for what the vendor cannot honour, unless `dropParams`. */
  encodeRequest(request: ChatRequest, context: EncodeContext): UpstreamRequest;
  decodeResponse(body: AnswerBody): EventBatch;
  createStreamDecoder(): StreamDecoder;
}
