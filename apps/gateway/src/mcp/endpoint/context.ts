import type { Authenticated } from '../../pipeline/exchange/load-principal';
import type { Exchange } from '../../pipeline/exchange/open-exchange';
import type { Services } from '../../services/contract';
import type { Naming } from '../calls/find-tool';
import type { UpstreamCaller } from '../upstream/upstream';
import type { RpcRequest } from '../wire/json-rpc';
import type { Sender } from './classify';

/** One request of a client whose key is known. */
export interface McpContext extends Naming {
  readonly exchange: Exchange;
  readonly principal: Authenticated;
  readonly sender: Sender;
  readonly request: RpcRequest;
  readonly runId: string;
  readonly bytesIn: number;
  readonly headers: Headers;
  /** As it came. */
  readonly httpRequest: Request;
  /** The client left, or cancelled the request. */
  readonly signal: AbortSignal;
  /** It takes streams. */
  readonly takesStream: boolean;
  /** Must be called once the answer has gone. */
  readonly release: () => void;
}

/** For whom a level of log messages is kept: a client's session, or all clients of a key without one. */
export const levelOwner = ({ principal, exchange, sender }: McpContext): string =>
  sender.sessionId ?? `${principal.key.id}\n${exchange.customerId ?? ''}`;

/** Whose bytes they are that go out. */
export const takenBy = ({ readers }: Pick<Services, 'readers'>, { httpRequest, exchange, principal }: McpContext) => {
  return { readers, request: httpRequest, held: exchange.held, key: principal.key.id };
};

export const callerOf = ({ principal, exchange, sender }: McpContext): UpstreamCaller => ({
  keyId: principal.key.id,
  ...(exchange.customerId === undefined ? {} : { customerId: exchange.customerId }),
  ...(sender.sessionId === undefined ? {} : { sessionId: sender.sessionId }),
});
