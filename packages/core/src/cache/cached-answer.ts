import type { Held } from '../async/room';
import { parseJson } from '../chat/json';
import { decodeInSlices, parseJsonInSlices } from '../chat/json-in-slices';
import type { ChatRequest } from '../chat/request';
import type { ChatResponse } from '../chat/response';
import type { Usage } from '../chat/usage';
import { joinInSlices, piecesOfJson } from '../chat/write-json-in-slices';
import type { Project } from '../keys/api-key';
import { packPieces, unpackPieces } from './packed-text';

/** A complete, successful answer in every cache tier. */
export interface CachedAnswer {
  readonly v: 1;
  readonly provider: string;
  /** Target model that answered. */
  readonly model: string;
  readonly response: ChatResponse;
  readonly usage: Usage;
  /** Original cost of the answer, which a hit saves. Integer nano-USD. */
  readonly costNanoUsd: number;
  /** Parameters of the request that were left out; absent where none were. */
  readonly dropped?: readonly string[];
  /** Request whose answer the semantic cache returned. */
  readonly matchedBy?: string;
  /** Set for replays by `Idempotency-Key`. */
  readonly sent?: SentAnswer;
  /** Set for a large answer: its packed `response`, see `packResponse`. */
  readonly packed?: string;
  /** Bytes of the JSON that was packed. */
  readonly packedBytes?: number;
}

/** A large answer in storage format. */
export interface PackedResponse {
  /** Bytes of its JSON. */
  readonly bytes: number;
  /** Absent if not stored. */
  readonly text?: string;
}

/** Serializes and compresses off the event loop. `maxBytes`: longer ones aren't stored. */
export async function packResponse(response: ChatResponse, maxBytes: number): Promise<PackedResponse> {
  const pieces = await piecesOfJson(response);
  const bytes = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
  return bytes > maxBytes ? { bytes } : { bytes, text: await packPieces(pieces) };
}

/** The first caller's answer, for identical replays. */
export interface SentAnswer {
  /** UUID of the first request: ids of the answer are made of it. */
  readonly requestId: string;
  /** The exact body (zstd, base64); absent for streams beyond the limit. */
  readonly body?: string;
  /** Its length. */
  readonly bytes?: number;
}

export function packBody(parts: readonly Uint8Array[]): string {
  return Bun.zstdCompressSync(Buffer.concat(parts)).toString('base64');
}

/** Memory for cache reads. */
export type CacheRoom = Pick<Held, 'take' | 'giveBack'>;

/**
 * Memory factor of cache reads: bytes, joined bytes, text and parsed form; part of it stays until the output is sent.
 */
const WORK_FACTOR = 4;
const KEPT_FACTOR = 2;
/** Smaller bodies take no room. */
const SMALL_LENGTH = 64 * 1024;
/** Ratio for entries of earlier versions without a length. */
const USUAL_RATIO = 8;

const lengthOf = (packed: string, bytes: number | undefined): number => bytes ?? USUAL_RATIO * packed.length;

export async function unpackBody({ body = '', bytes }: SentAnswer, room: CacheRoom): Promise<Blob> {
  const taken = KEPT_FACTOR * lengthOf(body, bytes);
  await room.take(taken);
  try {
    return await joinInSlices(await unpackPieces(body));
  } finally {
    room.giveBack(taken);
  }
}

export function encodeCachedAnswer(answer: CachedAnswer): string {
  return JSON.stringify(answer.packed === undefined ? answer : { ...answer, response: undefined });
}

/**
 * undefined for anything this version did not write: a damaged or foreign entry is a miss, never an error. A large one
 * takes some turns.
 */
export function decodeCachedAnswer(
  text: string,
  room?: CacheRoom,
): CachedAnswer | undefined | Promise<CachedAnswer | undefined> {
  const waiting = text.length > SMALL_LENGTH ? room?.take(KEPT_FACTOR * text.length) : undefined;
  return waiting === undefined ? decodeAtOnce(text, room) : waiting.then(() => decodeAtOnce(text, room));
}

function decodeAtOnce(text: string, room?: CacheRoom): CachedAnswer | undefined | Promise<CachedAnswer | undefined> {
  const value = parseJson(text) as CachedAnswer | null | undefined;
  if (value?.v === 1 && typeof value.packed === 'string') return withResponse(value, value.packed, room);
  return value?.v === 1 && Array.isArray(value.response?.choices) ? value : undefined;
}

async function withResponse(
  stored: CachedAnswer,
  packed: string,
  room: CacheRoom | undefined,
): Promise<CachedAnswer | undefined> {
  const bytes = lengthOf(packed, stored.packedBytes);
  await room?.take(WORK_FACTOR * bytes);
  try {
    const text = await decodeInSlices(await unpackPieces(packed));
    const response = (await parseJsonInSlices(text)) as unknown as ChatResponse;
    return Array.isArray(response.choices) ? { ...stored, response } : undefined;
  } catch {
    return undefined;
  } finally {
    room?.giveBack((WORK_FACTOR - KEPT_FACTOR) * bytes);
  }
}

/** For `IdempotencyKeys`. */
export const CACHED_ANSWER_CODEC = { encode: encodeCachedAnswer, decode: decodeCachedAnswer };

type Wish = Pick<Project, 'cacheToolCalls'>;

/** An answer with tool calls is cached only if the project allows it, so that no agent replays another. */
export function mayCache(response: ChatResponse, { cacheToolCalls }: Wish): boolean {
  if (cacheToolCalls) return true;
  for (const { toolCalls, finishReason, messageExtra } of response.choices) {
    const isCall = toolCalls !== undefined && toolCalls.length > 0;
    if (isCall || finishReason === 'tool_calls' || messageExtra?.function_call != null) return false;
  }
  return true;
}

/**
 * True if concurrent identical requests may share an answer. A request with tools may not: agents in step would share
 * one run.
 */
export function mayShare({ tools, toolChoice, extra }: ChatRequest, { cacheToolCalls }: Wish): boolean {
  const hasTools = (tools !== undefined && tools.length > 0) || extra.functions !== undefined;
  return cacheToolCalls || !hasTools || toolChoice?.type === 'none';
}
