import type { JsonObject } from '@llm0/core/chat/json';
import type { AnswerRoom } from '@llm0/providers/provider-call';
import type { RpcId, RpcNotification, RpcRequest, RpcResponse } from '../wire/json-rpc';
import type { ClientFacts, Era } from '../wire/protocol';

/** For whom a server is asked; what it remembers of one caller is never another's. */
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

/** One message of a server's answer. `text`: the message as it came, with this gateway's id in it. */
export type UpstreamPart =
  | { readonly kind: 'response'; readonly response: RpcResponse; readonly text: string }
  | { readonly kind: 'notification'; readonly notification: RpcNotification; readonly text: string }
  | { readonly kind: 'request'; readonly request: RpcRequest };

/** A server's answer to one request: messages, the last of which is its response. `close` must be called in the end. */
export interface UpstreamAnswer {
  readonly era: Era;
  /** The id that stands in `text` of the response. */
  readonly id: string;
  /** Notifications may come before the response. */
  readonly isStream: boolean;
  /** Bytes so far. */
  readonly receivedBytes: number;
  /** undefined behind the response. Throws `GatewayError` where the server breaks off, is late or talks nonsense. */
  next(): Promise<UpstreamPart | undefined>;
  /** Answers a request that came in it. */
  reply(id: RpcId, answer: Pick<RpcResponse, 'result' | 'error'>): Promise<void>;
  /** Name by which a client's answer finds its way to the server, from any process. */
  readonly replyTo?: string;
  /** Cancels what is under way; for servers with sessions, by a notification as well. */
  close(): void;
}

/** Server information. */
export interface UpstreamFacts {
  readonly era: Era;
  readonly version: string;
  readonly capabilities: JsonObject;
  readonly info: JsonObject;
}

/** Something that a server tells without being asked. */
export type UpstreamNews = RpcNotification;

export interface NewsFilter {
  readonly lists: boolean;
  readonly resources: readonly string[];
  readonly caller?: UpstreamCaller;
  readonly client: ClientFacts;
  readonly signal: AbortSignal;
}

/** A server behind the gateway, however it is reached. */
export interface Upstream {
  facts(signal?: AbortSignal): Promise<UpstreamFacts>;
  ask(ask: UpstreamAsk): Promise<UpstreamAnswer>;
  /** Hands a client's answer to a server that asked it; `replyTo` as the answer named it. */
  replyLater(replyTo: string, id: RpcId, answer: Pick<RpcResponse, 'result' | 'error'>): Promise<void>;
  /** Tells news until the signal fires; ends earlier where the server ends it. */
  listen(filter: NewsFilter, onNews: (news: UpstreamNews) => void): Promise<void>;
  /** Ends what a server remembers of a client's session. */
  endSession(sessionId: string): void;
  close(): void;
}
