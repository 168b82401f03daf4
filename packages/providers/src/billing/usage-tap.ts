// Unreadable usage counts as missing. The tap never changes, delays or fails the answer.
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { EVENT_BOUNDS, findJsonExcess, findJsonExcessInSlices, type JsonBounds } from '@llm0/core/chat/json-bounds';
import { decodeInSlices, LARGE_JSON_LENGTH, parseJsonInSlices } from '@llm0/core/chat/json-in-slices';
import { SseDecoder } from '@llm0/core/sse/decode-sse';
import type { UsageReader } from '../passthrough';
import { asObject } from '../translation/read-json';
import { EventStreamFrames } from '../transport/event-stream-frames';

/** A plain answer larger than this is not read. */
const MAX_PLAIN_BYTES = 32 * 1024 * 1024;
/** Room for embeddings, which are numbers; anything else is far smaller. */
const PLAIN_BOUNDS: JsonBounds = { maxTokens: 16_000_000, maxParts: 250_000 };
/** A longer line is none of a stream's. */
const MAX_LINE = 1024 * 1024;

/** Reads usage out of a copy of an answer's bytes. */
export interface UsageTap {
  /** A large event is read in turns. */
  push(chunk: Uint8Array): Promise<void> | undefined;
  /** A large plain answer is read in turns. */
  end(): Promise<void> | undefined;
}

/** A tap for an answer of this content type. */
export function createUsageTap(contentType: string, reader: UsageReader): UsageTap {
  const kind = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (kind === 'text/event-stream') return untilBroken(eventTap(reader));
  if (kind === 'application/vnd.amazon.eventstream') return untilBroken(frameTap(reader));
  if (kind === 'application/x-ndjson') return untilBroken(lineTap(reader));
  return kind === 'application/json' ? untilBroken(plainTap(reader)) : NO_TAP;
}

const NO_TAP: UsageTap = { push: () => undefined, end: () => undefined };

function eventTap(reader: UsageReader): UsageTap {
  const decoder = new SseDecoder();
  return {
    push: (chunk) => {
      let large: Promise<void> | undefined;
      for (const { data } of decoder.push(chunk)) {
        if (!data.startsWith('{')) continue;
        if (large === undefined && data.length <= LARGE_JSON_LENGTH) takeJson(reader, data);
        else large = (large ?? Promise.resolve()).then(() => takeLarge(reader, data));
      }
      return large;
    },
    end: () => undefined,
  };
}

function frameTap(reader: UsageReader): UsageTap {
  const frames = new EventStreamFrames();
  const text = new TextDecoder();
  return {
    push: (chunk) => {
      for (const frame of frames.push(chunk)) if (frame !== null) takeJson(reader, text.decode(frame.payload));
      return undefined;
    },
    end: () => undefined,
  };
}

/** One JSON object a line. */
function lineTap(reader: UsageReader): UsageTap {
  const text = new TextDecoder();
  let rest = '';
  return {
    push: (chunk) => {
      const lines = (rest + text.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > MAX_LINE) throw new Error('a line without an end');
      for (const line of lines) if (line.startsWith('{')) takeJson(reader, line);
      return undefined;
    },
    end: () => {
      if (rest.startsWith('{')) takeJson(reader, rest);
      return undefined;
    },
  };
}

/** A whole JSON answer, or a list of them (streams of some vendors). */
function plainTap(reader: UsageReader): UsageTap {
  const chunks: Uint8Array[] = [];
  let size = 0;
  return {
    push: (chunk) => {
      size += chunk.byteLength;
      if (size <= MAX_PLAIN_BYTES) chunks.push(chunk);
      return undefined;
    },
    end: () => {
      if (size > MAX_PLAIN_BYTES || size === 0) return undefined;
      if (size > LARGE_JSON_LENGTH) return decodeInSlices(chunks).then((text) => takeLarge(reader, text));
      takeJson(reader, Buffer.concat(chunks).toString('utf8'));
      return undefined;
    },
  };
}

async function takeLarge(reader: UsageReader, text: string): Promise<void> {
  if ((await findJsonExcessInSlices(text, PLAIN_BOUNDS)) === undefined)
    takeValue(reader, await parseJsonInSlices(text));
}

function takeJson(reader: UsageReader, text: string): void {
  if (findJsonExcess(text, EVENT_BOUNDS) !== undefined) throw new Error('too much for an event');
  takeValue(reader, JSON.parse(text) as JsonValue);
}

function takeValue(reader: UsageReader, value: JsonValue): void {
  for (const item of Array.isArray(value) ? value : [value]) {
    const object: JsonObject | undefined = asObject(item);
    if (object !== undefined) reader.take(object);
  }
}

function untilBroken(tap: UsageTap): UsageTap {
  let broken = false;
  const guard = <T>(work: () => T): T | undefined => {
    if (broken) return undefined;
    try {
      return work();
    } catch {
      broken = true;
      return undefined;
    }
  };
  return {
    push: (chunk) =>
      guard(() => tap.push(chunk))?.catch(() => {
        broken = true;
      }),
    end: () => guard(() => tap.end())?.catch(() => {}),
  };
}
