import type { Services } from '../../services/contract';
import { findServer } from '../calls/find-tool';
import { guardReply } from '../calls/guard-call';
import type { RpcNotification, RpcResponse } from '../wire/json-rpc';
import { openReply } from './bound-state';
import { CallRefusal } from './mcp-errors';
import type { McpRequest } from './mcp-request';

/** A client's answer to a server's request during a call. */
export async function takeResponse(
  opened: Pick<McpRequest, 'registry' | 'patterns' | 'scope' | 'principal'>,
  { id, result, error }: RpcResponse,
): Promise<void> {
  const address = openReply(opened.principal.keyHash, id);
  if (address === undefined || (opened.scope !== undefined && opened.scope !== address.alias)) {
    throw new CallRefusal('invalid_request', 'This answers no open request.', { httpStatus: 400 });
  }
  const { upstream } = findServer(opened, address.alias);
  const answer = await guardReply(opened.principal, result === undefined ? { error } : { result });
  await upstream.replyLater(address.replyTo, address.id, answer);
}

/** Forwards cancellations to the call in this process; ignores other notifications. */
export function takeNotification(
  { mcp }: Services,
  { principal, sender }: Pick<McpRequest, 'principal' | 'sender'>,
  { method, params }: RpcNotification,
): void {
  const { requestId } = params;
  if (method !== 'notifications/cancelled' || sender.sessionId === undefined) return;
  if (typeof requestId !== 'string' && typeof requestId !== 'number') return;
  mcp.underWay.cancel(`${principal.key.id}\n${sender.sessionId}`, requestId);
}
