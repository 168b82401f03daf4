import { createHmac, timingSafeEqual } from 'node:crypto';
import { isObject, type JsonValue, parseJson } from '@llm0/core/chat/json';
import { CallRefusal } from './mcp-errors';

/** Owner of the state: only this key may use it, only with this server. */
export interface StateOwner {
  readonly keyHash: string;
  readonly serverId: string;
}

const MAC_LENGTH = 22;

const macOf = ({ keyHash, serverId }: StateOwner, text: string): string =>
  createHmac('sha256', keyHash).update(`${serverId}\n${text}`).digest('base64url').slice(0, MAC_LENGTH);

/** A server's own state, marked as that server's and this key's. */
export const bindState = (owner: StateOwner, state: string): string => `${macOf(owner, state)}.${state}`;

/** The server's original state. Throws for a foreign server or key, or a modified state. */
export function unbindState(owner: StateOwner, bound: unknown): string {
  const text = typeof bound === 'string' ? bound : '';
  const state = text.slice(MAC_LENGTH + 1);
  if (text.charAt(MAC_LENGTH) === '.' && isSame(text.slice(0, MAC_LENGTH), macOf(owner, state))) return state;
  throw new CallRefusal('invalid_request', 'This "requestState" belongs to no request of this key to this server.', {
    code: -32602,
    param: 'requestState',
  });
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Destination of a client's answer to a server's question. */
export interface ReplyAddress {
  readonly alias: string;
  readonly replyTo: string;
  readonly id: string | number;
}

const REPLY_PREFIX = 'llm0.';

/** The id under which a client is asked a server's question: any process finds the way back by it. */
export function sealReply(keyHash: string, { alias, replyTo, id }: ReplyAddress): string {
  const text = Buffer.from(JSON.stringify([alias, replyTo, id])).toString('base64url');
  return `${REPLY_PREFIX}${text}.${macOf({ keyHash, serverId: '' }, text)}`;
}

/** undefined for ids of nothing that was asked. */
export function openReply(keyHash: string, sealed: JsonValue | undefined): ReplyAddress | undefined {
  if (typeof sealed !== 'string' || !sealed.startsWith(REPLY_PREFIX)) return undefined;
  const [text = '', mac = ''] = sealed.slice(REPLY_PREFIX.length).split('.', 2);
  if (!isSame(mac, macOf({ keyHash, serverId: '' }, text))) return undefined;
  const told = parseJson(Buffer.from(text, 'base64url').toString());
  if (!Array.isArray(told) || isObject(told)) return undefined;
  const [alias, replyTo, id] = told;
  if (typeof alias !== 'string' || typeof replyTo !== 'string') return undefined;
  return typeof id === 'string' || typeof id === 'number' ? { alias, replyTo, id } : undefined;
}
