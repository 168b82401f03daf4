import type { Authenticated } from '../../pipeline/request/load-principal';
import type { RequestContext } from '../../pipeline/request/open-context';
import type { Services } from '../../services/contract';
import type { Naming } from '../calls/find-tool';
import type { UpstreamCaller } from '../upstream/upstream';
import type { RpcRequest } from '../wire/json-rpc';
import type { Sender } from './classify';

/** One request of a client whose key is known. */
export interface McpRequest extends Naming {
  readonly ctx: RequestContext;
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
export const levelOwner = ({ principal, ctx, sender }: McpRequest): string =>
  sender.sessionId ?? `${principal.key.id}\n${ctx.customerId ?? ''}`;

/** Owner of outgoing bytes. */
export const takenBy = ({ readers }: Pick<Services, 'readers'>, { httpRequest, ctx, principal }: McpRequest) => {
  return { readers, request: httpRequest, held: ctx.held, key: principal.key.id };
};

export const callerOf = ({ principal, ctx, sender }: McpRequest): UpstreamCaller => ({
  keyId: principal.key.id,
  ...(ctx.customerId === undefined ? {} : { customerId: ctx.customerId }),
  ...(sender.sessionId === undefined ? {} : { sessionId: sender.sessionId }),
});
