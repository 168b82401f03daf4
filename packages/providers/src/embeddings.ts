import type { JsonValue } from '@llm0/core/chat/json';
import type { EmbeddingInput, EmbeddingRequest } from '@llm0/core/embedding/embedding-request';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { EncodeContext, UpstreamRequest } from './provider-request';
import type { AnswerBody } from './translation/read-json';

export interface EmbeddingAnswer {
  /** One vector for each input, in order, as the vendor wrote them: see `readVector`. */
  readonly encoded: readonly (JsonValue | undefined)[];
  /** Billed tokens; absent if unreported. */
  readonly inputTokens?: number;
}

/** Embeddings of a provider. Pure, like the rest of a provider. */
export interface EmbeddingsPart {
  /** Most inputs of one call; more of them go out as several calls. */
  maxInputs(model: string): number;
  /** True if inputs may be tokens; others get text. */
  readonly takesTokens: boolean;
  /** Throws `unsupported_parameter` unless `dropParams`. */
  encodeRequest(request: EmbeddingRequest, context: EncodeContext): UpstreamRequest;
  /** A complete answer (status 2xx); throws `malformed` for anything else. */
  decodeResponse(body: AnswerBody, headers: Headers): EmbeddingAnswer;
}

/** For vendors that take text only; throws `unsupported_parameter` for tokens, since nothing may be dropped of them. */
export function requireText(input: EmbeddingInput, model: string): string {
  if (typeof input === 'string') return input;
  throw new GatewayError('unsupported_parameter', `"input" must be text for ${model}: it takes no tokens.`, {
    param: 'input',
  });
}
