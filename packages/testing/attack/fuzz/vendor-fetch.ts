import type { JsonObject } from '@llm0/core/chat/json';
import { Random } from '../../chaos/random';
import { honestPieces } from '../hostile-upstream';
import { type Json, writeJson } from './edge-values';
import { mutateBytes, mutateJson } from './mutate';

/** How the vendor answers what is asked from now on. */
const mood = { isMutating: false, seed: 0 };
export const setVendor = (isMutating: boolean, seed: number) => Object.assign(mood, { isMutating, seed });

/** Takes the place of `fetch`: a vendor within this process, in every format. Nothing leaves it. */
export async function answerAsVendor(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const { isMutating, seed } = mood;
  const request = new Request(input, init);
  const url = new URL(request.url);
  const text = await request.text();
  const call = { method: request.method, path: url.pathname + url.search, headers: new Map<string, string>(), text };
  const { pieces, type } = honestPieces({ ...call, body: readObject(text) });
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
