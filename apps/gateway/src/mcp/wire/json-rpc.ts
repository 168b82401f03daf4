import { isObject, type JsonObject, type JsonValue } from '@llm0/core/chat/json';

/** Id of a message; never null for a request. */
export type RpcId = string | number;

export interface RpcRequest {
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
}

export interface RpcNotification {
  readonly method: string;
  readonly params: JsonObject;
}

/** A peer's answer: a `result` or an `error`. */
export interface RpcResponse {
  readonly id: RpcId | null;
  readonly result?: JsonObject;
  readonly error?: RpcErrorBody;
}

export interface RpcErrorBody {
  readonly code: number;
  readonly message: string;
  readonly data?: JsonValue;
}

export type RpcMessage =
  | { readonly kind: 'request'; readonly request: RpcRequest }
  | { readonly kind: 'notification'; readonly notification: RpcNotification }
  | { readonly kind: 'response'; readonly response: RpcResponse };

/** Codes of JSON-RPC 2.0 and of the protocol. Source: https://modelcontextprotocol.io/specification/2026-07-28/basic */
export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
  resourceNotFound: -32002,
} as const;

/** Error codes of requests that the server did not run. */
export const NOT_RUN: ReadonlySet<number> = new Set([
  ...[RPC.parseError, RPC.invalidRequest, RPC.methodNotFound, RPC.invalidParams, RPC.resourceNotFound],
  ...[RPC.headerMismatch, RPC.missingCapability, RPC.unsupportedVersion],
]);

const isId = (value: unknown): value is RpcId => typeof value === 'string' || Number.isSafeInteger(value);

/** undefined for an invalid JSON-RPC 2.0 message. */
export function readRpcMessage(value: JsonValue | undefined): RpcMessage | undefined {
  if (!isObject(value) || value.jsonrpc !== '2.0') return undefined;
  const { id, method, params, result, error } = value;
  if (typeof method === 'string') {
    if (params !== undefined && !isObject(params)) return undefined;
    const named = { method, params: isObject(params) ? params : {} };
    if (id === undefined) return { kind: 'notification', notification: named };
    return isId(id) ? { kind: 'request', request: { ...named, id } } : undefined;
  }
  if (isObject(result) && isId(id)) return { kind: 'response', response: { id, result } };
  const said = readRpcError(error);
  if (said === undefined || !(isId(id) || id === null || id === undefined)) return undefined;
  return { kind: 'response', response: { id: id ?? null, error: said } };
}

function readRpcError(error: JsonValue | undefined): RpcErrorBody | undefined {
  if (!isObject(error) || !Number.isSafeInteger(error.code)) return undefined;
  const message = typeof error.message === 'string' ? error.message : '';
  return { code: error.code as number, message, ...(error.data === undefined ? {} : { data: error.data }) };
}

export const rpcResult = (id: RpcId, result: JsonObject): JsonObject => ({ jsonrpc: '2.0', id, result });
export const rpcError = (id: RpcId | null, error: RpcErrorBody): JsonObject => ({
  jsonrpc: '2.0',
  id,
  error: { ...error } as JsonObject,
});
/** The reply to a server's request inside an answer. */
export const rpcReply = (id: RpcId, { result, error }: Pick<RpcResponse, 'result' | 'error'>): JsonObject =>
  error === undefined ? rpcResult(id, result ?? {}) : rpcError(id, error);
export const rpcNotification = (method: string, params: JsonObject): JsonObject => ({ jsonrpc: '2.0', method, params });

/** A failure inside the protocol, in an answer with `httpStatus`. */
export class RpcFailure extends Error {
  override readonly name = 'RpcFailure';
  constructor(
    readonly code: number,
    message: string,
    readonly options: { readonly data?: JsonValue; readonly httpStatus?: number } = {},
  ) {
    super(message);
  }

  get body(): RpcErrorBody {
    const { data } = this.options;
    return { code: this.code, message: this.message, ...(data === undefined ? {} : { data }) };
  }
}
