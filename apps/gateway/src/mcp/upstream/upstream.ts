import type { JsonObject } from '@llm0/core/chat/json';
import type { AnswerRoom } from '@llm0/providers/provider-call';
import type { RpcId, RpcNotification, RpcRequest, RpcResponse } from '../wire/json-rpc';
import type { ClientFacts, Era } from '../wire/protocol';

/** Caller of a server; servers must not share state between callers. */
export interface UpstreamCaller {
  readonly keyId: string;
  readonly customerId?: string;
  /** Session of a client that sent `initialize`. */
  readonly sessionId?: string;
}

/** One request to a server, in the client's words. */
export interface UpstreamAsk {
  readonly method: string;
  /** `_meta` without the client's envelope. */
  readonly params: JsonObject;
  readonly client: ClientFacts;
  /** Absent: the gateway itself. */
  readonly caller?: UpstreamCaller;
  /** Arguments that go into headers as well. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Bytes of the whole answer. */
  readonly maxBytes: number;
  /** Called before it is sent, since it may run; then with false if the server refused it unread. */
  readonly onSent?: SentListener;
  readonly room?: AnswerRoom | undefined;
}

export type SentListener = (isSent: boolean) => void;

/** One message of a server's answer. `text`: the original, with this gateway's id. */
export type UpstreamPart =
  | { readonly kind: 'response'; readonly response: RpcResponse; readonly text: string }
  | { readonly kind: 'notification'; readonly notification: RpcNotification; readonly text: string }
  | { readonly kind: 'request'; readonly request: RpcRequest };

/** A server's answer to one request: messages, the last of which is its response. `close` must be called in the end. */
export interface UpstreamAnswer {
  readonly era: Era;
  /** Id in `text` of the response. */
  readonly id: string;
  /** True if notifications may precede the response. */
  readonly isStream: boolean;
  /** Bytes so far. */
  readonly receivedBytes: number;
  /** undefined after the response. Throws `GatewayError` for a broken, late or invalid answer. */
  next(): Promise<UpstreamPart | undefined>;
  /** Answers a server's request in the stream. */
  reply(id: RpcId, answer: Pick<RpcResponse, 'result' | 'error'>): Promise<void>;
  /** Name by which a client's answer finds its way to the server, from any process. */
  readonly replyTo?: string;
  /** Cancels running calls; servers with sessions also get a notification. */
  close(): void;
}

/** Server information. */
export interface UpstreamFacts {
  readonly era: Era;
  readonly version: string;
  readonly capabilities: JsonObject;
  readonly info: JsonObject;
}

/** An unsolicited notification of a server. */
export type UpstreamNews = RpcNotification;

export interface NewsFilter {
  readonly lists: boolean;
  readonly resources: readonly string[];
  readonly caller?: UpstreamCaller;
  readonly client: ClientFacts;
  readonly signal: AbortSignal;
}

/** A server in any transport. */
export interface Upstream {
  facts(signal?: AbortSignal): Promise<UpstreamFacts>;
  ask(ask: UpstreamAsk): Promise<UpstreamAnswer>;
  /** Hands a client's answer to a server that asked it; `replyTo` as the answer named it. */
  replyLater(replyTo: string, id: RpcId, answer: Pick<RpcResponse, 'result' | 'error'>): Promise<void>;
  /** Delivers news until the signal fires or the server ends the stream. */
  listen(filter: NewsFilter, onNews: (news: UpstreamNews) => void): Promise<void>;
  /** Ends a client's session on the server. */
  endSession(sessionId: string): void;
  close(): void;
}
