import { isObject, type JsonObject, type JsonValue } from '@llm0/core/chat/json';
import { decodeHeaderValue, encodeHeaderValue } from './header-values';
import { RPC, RpcFailure } from './json-rpc';

/** An argument that goes into a header as well (`x-mcp-header`), for proxies that cannot read bodies. */
export interface ParamHeader {
  readonly header: string;
  readonly path: readonly string[];
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}$/;
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean', 'number']);
const MAX_HEADERS = 16;
const MAX_DEPTH = 8;

/** Valid headers that a tool's schema declares. */
export function findParamHeaders(schema: JsonObject): readonly ParamHeader[] {
  const found: ParamHeader[] = [];
  const look = (node: JsonValue | undefined, path: readonly string[]): void => {
    if (!isObject(node) || path.length > MAX_DEPTH || found.length >= MAX_HEADERS) return;
    const name = node['x-mcp-header'];
    if (path.length > 0 && typeof name === 'string' && TOKEN.test(name) && TYPES.has(node.type)) {
      found.push({ header: `mcp-param-${name.toLowerCase()}`, path });
    }
    if (!isObject(node.properties)) return;
    for (const [key, child] of Object.entries(node.properties)) look(child, [...path, key]);
  };
  look(schema, []);
  return found;
}

function valueAt(args: JsonObject, path: readonly string[]): string | number | boolean | undefined {
  let node: JsonValue | undefined = args;
  for (const key of path) node = isObject(node) && Object.hasOwn(node, key) ? node[key] : undefined;
  return typeof node === 'string' || typeof node === 'number' || typeof node === 'boolean' ? node : undefined;
}

/** The headers that go with a call. */
export function paramHeaderValues(declared: readonly ParamHeader[], args: JsonObject): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { header, path } of declared) {
    const value = valueAt(args, path);
    if (value !== undefined) headers[header] = encodeHeaderValue(String(value));
  }
  return headers;
}

/** Throws if a header contradicts the body. */
export function checkParamHeaders(declared: readonly ParamHeader[], args: JsonObject, headers: Headers): void {
  for (const { header, path } of declared) {
    const value = valueAt(args, path);
    if (value === undefined) continue;
    const sent = headers.get(header);
    const decoded = sent === null ? undefined : decodeHeaderValue(sent);
    const isSame =
      decoded === String(value) || (typeof value === 'number' && decoded !== '' && Number(decoded) === value);
    if (decoded !== undefined && isSame) continue;
    const message = `The header ${header} and the argument ${path.join('.')} do not agree.`;
    throw new RpcFailure(RPC.headerMismatch, message, { httpStatus: 400 });
  }
}
