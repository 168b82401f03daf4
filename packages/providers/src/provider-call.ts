import type { EventBatch } from '@llm0/core/chat/event';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { TakenSlots } from '@llm0/core/routing/places/slots';
import type { Provider } from './provider';
import type { EncodeContext, UpstreamRequest } from './provider-request';
import type { EgressOptions } from './transport/egress/fetch-guarded';
import type { KeyRing } from './transport/key-ring';

/** Memory for answers that are read whole. */
export interface AnswerRoom {
  /** Takes memory for received bytes; a promise waits. Throws after too long. */
  takeAnswer(bytes: number): Promise<void> | undefined;
  /** Releases memory of output that the client has received. */
  giveBackAnswer(): void;
  /** The answer arrives faster than it leaves. Throws beyond the limit of such answers. */
  takeFlood(): void;
  /** The reader keeps up again. */
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
  /** Aborts once nobody waits: cancels the upstream at once. */
  readonly signal: AbortSignal;
  readonly fetch: typeof globalThis.fetch;
  /** For callers' URLs: hosts that may be private, another resolver. */
  readonly egress?: Pick<EgressOptions, 'allowedHosts' | 'allowedRanges' | 'resolve' | 'ca'>;
  /** Several or stored keys, which replace the connection's own. */
  readonly keys?: KeyRing;
  /** Places of this attempt, where the provider or a key has limited ones. */
  readonly slots?: TakenSlots | undefined;
  /** Headers that name the trace it is part of. */
  readonly trace?: Readonly<Record<string, string>>;
  readonly room?: AnswerRoom;
  /** Called right before a request is sent: it may be billed afterwards. */
  readonly onSend?: (body: UpstreamRequest['body']) => void;
}

export interface ProviderAnswer {
  /** Read it once. Leaving early (`return`) cancels the upstream. Throws `GatewayError`. */
  readonly events: AsyncIterableIterator<EventBatch>;
  /** Set for a complete answer: returns the content of `events` at once. Call it once, instead of reading them. */
  readonly whole?: () => EventBatch | Promise<EventBatch>;
  readonly status: number;
  /** Parameters of the request that were left out. */
  readonly dropped: readonly string[];
}
