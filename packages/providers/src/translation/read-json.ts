import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import {
  EVENT_BOUNDS,
  findJsonExcess,
  findJsonExcessInSlices,
  HARMLESS_LENGTH,
  type JsonBounds,
  JsonLook,
} from '@llm0/core/chat/json-bounds';
import { decodePieces, LARGE_JSON_LENGTH, parseJsonInSlices, parseJsonPieces } from '@llm0/core/chat/json-in-slices';
import { upstreamFailure } from '../transport/upstream-failure';

/** A value as an object, or undefined when it is anything else. */
export function asObject(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

/** The objects of a list; empty for anything else. */
export function asObjects(value: JsonValue | undefined): JsonObject[] {
  if (!Array.isArray(value)) return [];
  return value.map(asObject).filter((item) => item !== undefined);
}

export function asString(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function asNumber(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** More choices than any vendor gives. */
const MOST_CHOICES = 1024;

/** The place of a choice among the others; undefined where a number is none. */
export function asIndex(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < MOST_CHOICES ? value : undefined;
}

/** A token count as an integer ≥ 0, for any input. */
export function asCount(value: JsonValue | undefined): number {
  return typeof value === 'number' && value > 0 && Number.isFinite(value) ? Math.trunc(value) : 0;
}

/** More than any model handles in one request: a larger count is false. */
export const MOST_TOKENS = 100_000_000;
const COUNT_NAME = /(?:tokens|token_?count|eval_count)$/i;

/** Usage of a vendor; undefined if absent, if a count is invalid, or if all are 0, as from servers that don't count. */
export function asCounts(value: JsonValue | undefined): JsonObject | undefined {
  const counts = asObject(value);
  return counts !== undefined && holdsCounts(counts) && isCounted(counts) ? counts : undefined;
}

function isCounted(counts: JsonObject): boolean {
  return Object.entries(counts).some(([name, value]) =>
    COUNT_NAME.test(name) ? value !== 0 && value !== null : isCounted(asObject(value) ?? {}),
  );
}

function holdsCounts(counts: JsonObject): boolean {
  for (const name in counts) {
    const value = counts[name];
    if (typeof value === 'number') {
      if (COUNT_NAME.test(name) && !(Number.isInteger(value) && value >= 0 && value <= MOST_TOKENS)) return false;
    } else if (typeof value === 'object' && value !== null) {
      if (![value].flat().every((one) => holdsCounts(asObject(one) ?? {}))) return false;
    } else if (value !== null && COUNT_NAME.test(name)) return false;
  }
  return true;
}

/** A large answer, parsed in slices; undefined for invalid JSON. */
export class ParsedAnswer {
  constructor(readonly value: JsonValue | undefined) {}
}

/** A plain answer for its decoder. */
export type AnswerBody = Uint8Array | ParsedAnswer;

/** More than any model's answer holds; looked for before anything is built of it. */
export const CHAT_BOUNDS: JsonBounds = { maxTokens: 1_000_000, maxParts: 250_000 };
/** Likelihoods of other words are hundreds of values for each word. */
export const LOGPROBS_BOUNDS: JsonBounds = { maxTokens: 10_000_000, maxParts: 2_500_000 };

const NOTHING = new Uint8Array();
const UTF8 = new TextDecoder();

/** Prepares an answer's bytes for a decoder; frees those of a large one. */
export async function prepareAnswer(chunks: Uint8Array[], bounds: JsonBounds): Promise<AnswerBody> {
  const [first = NOTHING] = chunks;
  if (chunks.length <= 1 && first.byteLength <= LARGE_JSON_LENGTH) return first;
  let size = 0;
  for (const { byteLength } of chunks) size += byteLength;
  if (size <= LARGE_JSON_LENGTH) return Buffer.concat(chunks);
  const pieces = within(bounds, decodePieces(chunks, { frees: true }));
  return new ParsedAnswer(await parseJsonPieces(pieces, size).catch(() => undefined));
}

/** Throws beyond `bounds`. */
async function* within(bounds: JsonBounds, pieces: AsyncIterable<string>): AsyncGenerator<string> {
  const look = new JsonLook(bounds);
  for await (const piece of pieces) {
    const excess = look.push(piece);
    if (excess !== undefined) throw new SyntaxError(`More ${excess} than an answer holds`);
    yield piece;
  }
}

/** A whole plain answer as an object; throws `malformed` for anything else. */
export function parseAnswer(provider: string, bytes: AnswerBody): JsonObject {
  if (bytes instanceof ParsedAnswer) {
    const value = asObject(bytes.value);
    if (value !== undefined) return value;
    throw upstreamFailure('malformed', provider, 'answered with something that is not JSON.');
  }
  const what = bytes.length === 0 ? 'answered with an empty body.' : 'answered with something that is not JSON.';
  return parseEventData(provider, UTF8.decode(bytes), what);
}

/** Parses a large one in slices. */
export async function parseLargeEvent(provider: string, data: string): Promise<JsonObject> {
  const isSafe = (await findJsonExcessInSlices(data, CHAT_BOUNDS)) === undefined;
  const value = asObject(isSafe ? await parseJsonInSlices(data).catch(() => undefined) : undefined);
  if (value !== undefined) return value;
  throw upstreamFailure('malformed', provider, NO_OBJECT);
}

const NO_OBJECT = 'sent an event that is not a JSON object.';

/** The data of one event of a stream as an object; throws `malformed` for anything else. */
export function parseEventData(provider: string, text: string, otherwise = NO_OBJECT): JsonObject {
  let cause: unknown;
  try {
    if (text.length < HARMLESS_LENGTH || findJsonExcess(text, EVENT_BOUNDS) === undefined) {
      const value = JSON.parse(text) as JsonValue;
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
    }
  } catch (error) {
    cause = error;
  }
  throw upstreamFailure('malformed', provider, otherwise, cause);
}

/** A count, an object of counts, a list with a count for each modality, or the one modality that is usual. */
export type CountKind = CountNames | 'count' | 'modalities' | 'TEXT';
export type CountNames = ReadonlyMap<string, CountKind>;

export function countNames(...names: string[]): CountNames {
  return new Map(names.map((name) => [name, 'count']));
}

/** True if nothing but valid counts of these names is in it, at any depth: then no other reading is possible. */
export function holdsOnly(counts: JsonValue | undefined, names: CountNames): boolean {
  if (typeof counts !== 'object' || Array.isArray(counts)) return false;
  for (const name in counts) {
    const value = counts[name];
    const inner = names.get(name);
    if (inner === undefined) return false;
    if (inner === 'count') {
      if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > MOST_TOKENS) return false;
    } else if (inner === 'TEXT') {
      if (value !== inner) return false;
    } else if (inner === 'modalities' ? !countsTexts(value) : !holdsOnly(value, inner)) return false;
  }
  return true;
}

const MODALITY: CountNames = new Map<string, CountKind>([
  ['modality', 'TEXT'],
  ['tokenCount', 'count'],
]);

function countsTexts(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value)) return false;
  for (const item of value) if (!holdsOnly(item, MODALITY)) return false;
  return true;
}
