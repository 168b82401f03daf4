import type { JsonObject } from '@llm0/core/chat/json';
import { Random } from '../../chaos/random';
import { honestPieces } from '../hostile-upstream';
import { type Json, writeJson } from './edge-values';
import { mutateBytes, mutateJson } from './mutate';

/** How the vendor answers what is asked from now on. */
const mood = { isMutating: false, seed: 0 };
export const setVendor = (isMutating: boolean, seed: number) => Object.assign(mood, { isMutating, seed });

/** Where an MCP server is asked. */
export const MCP_PATH = '/tools/mcp';
const TOOLS = [{ name: 'search', description: 'Finds.', inputSchema: { type: 'object', properties: {} } }];
const TOOL_RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    ...{ protocolVersion: '2025-11-25', capabilities: { tools: {}, prompts: {}, resources: {}, completions: {} } },
    serverInfo: { name: 'fuzzed', version: '1' },
  },
  'tools/list': { tools: TOOLS },
  'tools/call': { content: [{ type: 'text', text: 'found' }], structuredContent: { found: 1 } },
  'prompts/get': { messages: [{ role: 'user', content: { type: 'text', text: 'x' } }] },
  'resources/read': { contents: [{ uri: 'file:///x', text: 'x' }] },
  'completion/complete': { completion: { values: ['a'] } },
};

function answerAsTools({ id, method }: JsonObject): { readonly pieces: readonly string[]; readonly type: string } {
  const result = TOOL_RESULTS[String(method)];
  const told = result === undefined ? { error: { code: -32601, message: 'no such method' } } : { result };
  return { pieces: [JSON.stringify({ jsonrpc: '2.0', id, ...told })], type: 'application/json' };
}

/** Takes the place of `fetch`: a vendor within this process, in every format. Nothing leaves it. */
export async function answerAsVendor(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const { isMutating, seed } = mood;
  const request = new Request(input, init);
  const url = new URL(request.url);
  const text = await request.text();
  const call = { method: request.method, path: url.pathname + url.search, headers: new Map<string, string>(), text };
  const isTool = url.pathname === MCP_PATH;
  const { pieces, type } = isTool ? answerAsTools(readObject(text)) : honestPieces({ ...call, body: readObject(text) });
  const random = new Random(seed);
  const sent = isMutating ? pieces.map((piece) => mutatePiece(random, Buffer.from(piece))) : pieces;
  return new Response(new Blob(sent as BlobPart[]).stream(), { headers: { 'content-type': type } });
}

function mutatePiece(random: Random, bytes: Buffer): Buffer {
  if (random.next() < 0.2) return mutateBytes(random, bytes);
  const text = bytes.toString();
  const [, head = '', json = '', tail = ''] = /^((?:event: .{1,60}\n)?(?:data: )?)([\s\S]*?)(\n*)$/.exec(text) ?? [];
  try {
    return Buffer.from(head + writeJson(mutateJson(random, JSON.parse(json) as Json)) + tail);
  } catch {
    return bytes;
  }
}

function readObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}
