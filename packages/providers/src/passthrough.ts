import type { ChatEvent } from '@llm0/core/chat/event';
import type { JsonObject, JsonValue, WireFormat } from '@llm0/core/chat/json';
import { addToTally, emptyTally, sumTally } from '@llm0/core/chat/tally';
import { completionTokens, isUntold, largerUsage, type Usage, untoldOf } from '@llm0/core/chat/usage';
import type { ProviderConnection } from './provider-request';
import { asNumber, asObject, asObjects } from './translation/read-json';

/** A request in the vendor's own format, on its way there. */
export interface NativeRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body; absent for a stream or no body. */
  readonly body?: Uint8Array | Blob;
}

/** `hash`: SHA-256 (hex) of a body that is too large to be hashed at once. */
export interface UnsignedNative extends Omit<NativeRequest, 'body'> {
  readonly body?: Uint8Array | { readonly hash: string };
}

/** Reported usage so far, and the received text. */
export interface UsageReader {
  /** A whole JSON answer, or one event of a stream. */
  take(value: JsonObject): void;
  readonly usage: Usage | undefined;
  /** The model that answers, as the vendor names it. */
  readonly model: string | undefined;
  /** UTF-8 bytes of output seen, for answers that end before anything was counted. */
  readonly outputBytes: number;
}

/** One endpoint with a computable cost. */
export interface NativeShape {
  /** Full path of a POST request behind the provider's root. A named group `model` captures the model. */
  readonly path: RegExp;
  /** Format of requests there, if it differs from the provider's. */
  readonly format?: WireFormat;
  /** Free for any request. */
  readonly isFree?: true;
  /** The request's output limit in tokens over all choices; undefined without one. */
  outputLimit(body: JsonObject): number | undefined;
  /** Makes no output tokens. */
  readonly isInputOnly?: true;
  /** Adds a request for usage; absent if the endpoint needs none. */
  askForUsage?(body: JsonObject): JsonObject;
  /** True if the answer reports its usage; background work doesn't. */
  tellsCost(body: JsonObject): boolean;
  /** Top-level fields whose cost is bounded by their size. */
  readonly boundedFields: ReadonlySet<string>;
  /** Place that names a file or cached content of the gateway's account at the vendor. */
  findStored?(body: JsonObject): string | undefined;
  createReader(): UsageReader;
}

/** Native API of a provider. Pure, like the rest of a provider. */
export interface PassthroughPart {
  /** Base for the caller's path, which can't leave it; without a trailing slash. */
  root(connection: ProviderConnection): string;
  /** Query parameters added where the caller sent none of that name. */
  query?(connection: ProviderConnection): Readonly<Record<string, string>>;
  /** The whole body has to be there before the request can be authenticated. */
  signsBody(connection: ProviderConnection): boolean;
  /** Headers that authenticate the request and those that the operator set. */
  authorize(request: UnsignedNative, connection: ProviderConnection): Readonly<Record<string, string>>;
  /** All that is passed on unless the operator lists more. */
  readonly shapes: readonly NativeShape[];
  /** Query parameters that may take usage out of an answer: left out. `name` in lower case. */
  hidesUsage?(name: string, value: string): boolean;
  /** Paths of the vendor's native API only; a request elsewhere gets a hint. */
  readonly nativeOnly?: RegExp;
}

/** A format's decoder, as far as an answer that isn't translated needs it. */
export interface NativeDecoder {
  decode(value: JsonObject, events: ChatEvent[]): unknown;
  /** Adds what only the end of an answer gives. */
  finish?(events: ChatEvent[]): unknown;
}

/** Builds a reader. The larger of repeated counts holds. `decoder`: for output, which it counts as translation does. */
export function createUsageReader(
  readUsage: (value: JsonObject) => Usage | undefined,
  decoder?: NativeDecoder,
): UsageReader {
  const tally = emptyTally();
  let usage: Usage | undefined;
  let model: string | undefined;
  let isFinished = false;
  const add = (read: (events: ChatEvent[]) => unknown) => {
    const events: ChatEvent[] = [];
    try {
      read(events);
    } catch {
      // The vendor's failures are the caller's to read.
    }
    addToTally(tally, { events: events.filter(({ type }) => type !== 'usage') });
  };
  const finish = () => {
    if (!isFinished) add((events) => decoder?.finish?.(events));
    isFinished = true;
  };
  return {
    take(value) {
      model ??= modelOf(value);
      const told = readUsage(value);
      if (decoder !== undefined) add((events) => decoder.decode(value, events));
      if (told === undefined) return;
      usage = usage === undefined ? told : largerUsage(usage, told);
      tally.toldAtPieces = tally.pieces;
    },
    get usage() {
      if (usage === undefined || tally.toldAtPieces === tally.pieces) return usage;
      // The count excludes later output.
      return { ...usage, untold: untoldOf(isUntold(usage, 'input'), true) };
    },
    get model() {
      return model;
    },
    get outputBytes() {
      finish();
      const { outputBytes, reasoningBytes } = sumTally(tally);
      return outputBytes + reasoningBytes;
    },
  };
}

/** Model field of the formats: at the top, or in a stream's first event. */
function modelOf(value: JsonObject): string | undefined {
  const opening = asObject(value.message) ?? asObject(value.response);
  return [value.model, value.modelVersion, opening?.model].find((name) => typeof name === 'string');
}

/** No vendor honours a higher limit; the bound keeps arithmetic safe. */
const MOST_LIMIT = 1_000_000_000;

const bounded = (limit: number) => Math.ceil(Math.min(limit, MOST_LIMIT));

/** A number of a body, or undefined. */
export function limitOf(body: JsonObject | undefined, ...names: readonly string[]): number | undefined {
  const values = names.map((name) => asNumber(body?.[name])).filter((value) => value !== undefined && value >= 0);
  // The vendor chooses between duplicates.
  return values.length === 0 ? undefined : bounded(Math.max(...values.map(Number)));
}

/** The count; undefined if it isn't a number. */
export function timesCount(
  limit: number | undefined,
  ...counts: readonly (JsonValue | undefined)[]
): number | undefined {
  const asked = counts.filter((count) => count !== undefined && count !== null);
  if (limit === undefined || asked.some((count) => typeof count !== 'number')) return undefined;
  return bounded(limit * Math.max(1, ...asked.map((count) => Math.ceil(Number(count)))));
}

export { countReferences, OPAQUE_FIELDS } from '@llm0/core/pricing/count-references';

/** All tools of a request in any form: many vendors accept one object instead of a list. */
export function toolsOf(body: JsonObject): readonly JsonObject[] {
  const named = (value: JsonObject, name: string) =>
    Object.keys(value).flatMap((field) => (field.toLowerCase() === name ? [value[field] ?? null] : []));
  const configured = named(body, 'toolconfig').flatMap((config) => named(asObject(config) ?? {}, 'tools'));
  return asObjects([...named(body, 'tools'), ...configured].flat(MOST_NESTED) as JsonValue);
}

const MOST_NESTED = 10;

/** True if the vendor runs a tool, whose cost isn't in the request. */
export function hasVendorTools(body: JsonObject): boolean {
  return toolsOf(body).some((tool) => {
    const type = tool.type ?? 'function';
    if (type !== 'function' && type !== 'custom') return true;
    const own = ['function', 'name', 'toolSpec', 'functionDeclarations', 'function_declarations', 'cachePoint'];
    const named = Object.keys(tool).filter((name) => name !== 'type');
    return tool.function === undefined && tool.name === undefined && !named.every((name) => own.includes(name));
  });
}

/** An interrupted answer has at least the output tokens that its text suggests. */
export function atLeast(usage: Usage, outputTokens: number): Usage {
  const missing = outputTokens - completionTokens(usage);
  return missing <= 0 ? usage : { ...usage, outputTokens: usage.outputTokens + missing, estimated: true };
}
