import type { EventBatch } from '@llm0/core/chat/event';
import type { JsonObject, WireFormat } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import type { BatchPart } from './batches';
import type { CompletionsPart } from './completions';
import type { EmbeddingsPart } from './embeddings';
import type { PassthroughPart } from './passthrough';
import type { EncodeContext, Endpoint, ProviderConnection, UpstreamRequest } from './provider-request';
import type { RealtimeParts } from './realtime';
import type { StreamDecoder } from './stream-decoder';
import type { TaskParts } from './tasks';
import type { AnswerBody } from './translation/read-json';

export type { StreamDecoder };

/** One vendor. Pure: it encodes and decodes without calls. */
export interface Provider {
  readonly name: string;
  readonly wireFormat: WireFormat;
  /** The vendor's own, without a trailing slash; empty for the built-in one and where every account has its own. */
  readonly defaultBaseUrl: string;
  /** Runs on the operator's own machines: every model of it is priced 0. */
  readonly isFree: boolean;
  /** Model names this provider is known to serve, for detection by name. */
  readonly modelPatterns: readonly RegExp[];
  /** The form that a model speaks, if not this one's. */
  forModel?(model: string): Provider | undefined;
  /** Throws `unsupported_parameter` unless `dropParams`. */
  encodeRequest(request: ChatRequest, context: EncodeContext): UpstreamRequest;
  /** A complete plain answer (status 2xx) as one batch; throws `malformed` for anything else. */
  decodeResponse(body: AnswerBody, request: ChatRequest): EventBatch;
  createStreamDecoder(request: ChatRequest): StreamDecoder;
  /** Any non-2xx answer → one clear message, with `failure` and `retryAfterMs`; never a secret. */
  decodeError(status: number, headers: Headers, body: string): GatewayError;
  /** Takes requests with `countOnly`, for nothing; for other vendors the gateway guesses. */
  readonly countsTokens?: true;
  /** Built-in provider: answers in process instead of over the network. Gives a Response as the vendor would. */
  respondLocally?(request: UpstreamRequest, signal: AbortSignal): Promise<Response>;
  /** http(s) URLs to embed in the request, because the vendor doesn't fetch them. */
  remoteMedia?(request: ChatRequest): readonly string[];
  /** Models the upstream offers right now, for providers that can list them (Ollama). */
  modelsUrl?(connection: ProviderConnection): Omit<Endpoint, 'method'>;
  decodeModels?(body: JsonObject): readonly string[];
  /** True for models that are asked as chat models are and answer with a verdict: `{"flagged", "categories"}`. */
  moderates?(model: string): boolean;
  /** Absent where the vendor makes no embeddings. */
  readonly embeddings?: EmbeddingsPart;
  /** Endpoints for neither text nor vectors. */
  readonly tasks?: TaskParts;
  /** Sessions of speech, over WebSockets. */
  readonly realtime?: RealtimeParts;
  /** Absent where the vendor only knows conversations. */
  readonly completions?: CompletionsPart;
  /** Absent where the vendor has no batches. */
  readonly batches?: BatchPart;
  /** The vendor's native API; absent without one. */
  readonly passthrough?: PassthroughPart;
  /** A request that costs nothing and succeeds with a good key; absent where the vendor has none. */
  probeUrl?(connection: ProviderConnection): Omit<Endpoint, 'method'>;
}
