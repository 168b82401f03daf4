import type { Authenticated } from '../../pipeline/request/authenticate';
import type { RequestContext } from '../../pipeline/request/open-context';
import type { Services } from '../../services/contract';
import type { Naming } from '../calls/find-tool';
import type { UpstreamCaller } from '../upstream/upstream';
import type { RpcRequest } from '../wire/json-rpc';
import type { Sender } from './classify';

/** An authenticated request of a client. */
export interface McpRequest extends Naming {
  readonly ctx: RequestContext;
  readonly principal: Authenticated;
  readonly sender: Sender;
  readonly request: RpcRequest;
  readonly runId: string;
  readonly bytesIn: number;
  readonly headers: Headers;
  /** Original request. */
  readonly httpRequest: Request;
  /** The client left, or cancelled the request. */
  readonly signal: AbortSignal;
  /** True if the client accepts streams. */
  readonly takesStream: boolean;
  /** Call after the answer. */
  readonly release: () => void;
}

/** Owner of a log level: a client's session, or all sessionless clients of a key. */
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
