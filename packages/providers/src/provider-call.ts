import type { EventBatch } from '@llm0/core/chat/event';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { Provider } from './provider';
import type { EncodeContext, UpstreamRequest } from './provider-request';
import type { EgressOptions } from './transport/egress/fetch-guarded';
import type { KeyRing } from './transport/key-ring';

/** Memory for answers that are read whole. */
export interface AnswerRoom {
  /** Takes room for bytes that came; a promise: waits until there is some. Throws where there is none for long. */
  takeAnswer(bytes: number): Promise<void> | undefined;
  /** Releases memory of output that the client has received. */
  giveBackAnswer(): void;
  /** The answer comes faster than it is passed on. Throws where that holds for too many already. */
  takeFlood(): void;
  /** It is passed on as it comes again. */
  endFlood(): void;
}

export interface ProviderCall {
  readonly provider: Provider;
  readonly request: ChatRequest;
  readonly context: EncodeContext;
  /** Milliseconds until a stream's first byte must be there, or the end of an answer that is no stream. */
  readonly timeoutMs: number;
  /** Milliseconds to connect; absent = `timeoutMs`. */
  readonly connectTimeoutMs?: number | undefined;
  /** Longest silence within the answer, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** More bytes than this, decompressed, are no answer. */
  readonly maxAnswerBytes: number;
  /** Aborts when nobody waits any more: the upstream is cancelled at once. */
  readonly signal: AbortSignal;
  readonly fetch: typeof globalThis.fetch;
  /** For URLs that come from callers: hosts that may be private, another resolver. */
  readonly egress?: Pick<EgressOptions, 'allowedHosts' | 'allowedRanges' | 'resolve' | 'ca'>;
  /** Where there are several keys, or stored ones: they take the place of the connection's own. */
  readonly keys?: KeyRing;
  /** Headers that name the trace it is part of. */
  readonly trace?: Readonly<Record<string, string>>;
  readonly room?: AnswerRoom;
  /** Called just before a request is sent: from then on it may be billed. */
  readonly onSend?: (body: UpstreamRequest['body']) => void;
}

export interface ProviderAnswer {
  /** To be read once. Leaving early (`return`) cancels the upstream. Throws `GatewayError`. */
  readonly events: AsyncIterableIterator<EventBatch>;
  /** Set where all of it is here already: what `events` would give, at once; to be called once, instead of reading them. */
  readonly whole?: () => EventBatch | Promise<EventBatch>;
  readonly status: number;
  /** Parameters of the request that were left out. */
  readonly dropped: readonly string[];
  /** Milliseconds from the call to the answer's headers. */
  readonly headersMs: number;
}
