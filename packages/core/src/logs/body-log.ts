// Postgres away: bodies wait within bounds and are then dropped and counted; no request waits or fails for them.
import { inTime } from '../async/in-time';
import { nextTurn } from '../async/time-slices';
import { LARGE_JSON_LENGTH } from '../chat/json-in-slices';
import { isLongJson } from '../chat/write-json-in-slices';
import { BatchWriter } from './batch-writer';
import { redactJson } from './redact';

/** Prompt and answer of one request, as JSON text: redacted, bounded, ready to be stored. */
export interface LoggedBodies {
  readonly requestId: string;
  readonly projectId: string;
  readonly createdAtMs: number;
  readonly request: string | null;
  /** Request body of the last provider. */
  readonly upstreamRequest: string | null;
  readonly response: string | null;
}

/** Original bodies in any JSON. `response` is JSON text already. */
export interface GivenBodies extends Omit<LoggedBodies, 'request' | 'upstreamRequest' | 'response'> {
  readonly request: unknown;
  readonly response: string | undefined;
  /** Characters that `response` lacks already. */
  readonly cut?: number;
}

/** Body for a provider: JSON text, or `value`, which is written in slices. */
export type SentBody = string | Uint8Array | { readonly value: unknown };

/** Destination of prompts and answers, if any. */
export interface BodyLog {
  /** Nothing is stored. */
  readonly isOff?: true;
  /** The last noted body is stored with the request. */
  noteSent(requestId: string, body: SentBody): void;
  /** Calls `describe` only if bodies are stored. Never throws. */
  keep(describe: () => GivenBodies): void;
  /** Waits for pending writes, at most `timeoutMs`. */
  flush(timeoutMs: number): Promise<void>;
  stop(): void;
}

/** LOG_BODIES=false. */
export const noBodyLog: BodyLog = {
  isOff: true,
  noteSent: () => {},
  keep: () => {},
  flush: async () => {},
  stop: () => {},
};

export interface StoredBodyLogOptions {
  /** Idempotent by request id. Throws `RecordsRejectedError` for bodies it can never take. */
  write(bodies: readonly LoggedBodies[]): Promise<void>;
  readonly onDrop: (bodies: number) => void;
  readonly everyMs?: number;
}

/** Longest unshortened body, in characters of JSON text. */
export const MAX_BODY_CHARACTERS = 256 * 1024;
/** Looked at beyond that: longer than any secret, so that no half of one is shown. */
const MARGIN_CHARACTERS = 32 * 1024;
/** Longer bodies are read one after the other, each in a turn of its own: taking secrets out takes milliseconds. */
const LONG_CHARACTERS = 32 * 1024;
/** Long bodies that may wait for their turn; more are dropped and counted. */
const MOST_LONG = 32;
/** Maximum of noted bodies for running requests; the oldest are dropped. */
const MOST_SENT = 1000;
const MOST_SENT_BYTES = 64 * 1024 * 1024;

/** LOG_BODIES=true: secrets are taken out before anything waits or is written. */
export class StoredBodyLog implements BodyLog {
  private readonly writer: BatchWriter<LoggedBodies>;
  private long = 0;
  private lastLong: Promise<void> = Promise.resolve();
  private readonly sent = new Map<string, SentBody>();
  private sentBytes = 0;

  constructor(private readonly options: StoredBodyLogOptions) {
    const { write, onDrop, everyMs } = options;
    const bytesOf = ({ request, upstreamRequest, response }: LoggedBodies) =>
      (request?.length ?? 0) + (upstreamRequest?.length ?? 0) + (response?.length ?? 0) + 200;
    this.writer = new BatchWriter({ write, onDrop, everyMs, bytesOf });
  }

  noteSent(requestId: string, body: SentBody): void {
    this.takeSent(requestId);
    this.sent.set(requestId, body);
    this.sentBytes += bytesOfSent(body);
    while (this.sent.size > MOST_SENT || this.sentBytes > MOST_SENT_BYTES) {
      const [oldest] = this.sent.keys();
      if (oldest === undefined) return;
      this.takeSent(oldest);
    }
  }

  private takeSent(requestId: string): SentBody | undefined {
    const body = this.sent.get(requestId);
    if (body !== undefined) this.sentBytes -= bytesOfSent(body);
    this.sent.delete(requestId);
    return body;
  }

  keep(describe: () => GivenBodies): void {
    try {
      const given = { ...describe() };
      const all: AllBodies = { ...given, sent: this.takeSent(given.requestId) };
      if (!isLong(all)) {
        this.add(all, boundBody(all.request), boundSent(all.sent), boundBody(parse(all.response), all.cut));
      } else if (this.long >= MOST_LONG) this.options.onDrop(1);
      else {
        this.long += 1;
        this.lastLong = this.lastLong.then(() => this.keepLong(all));
      }
    } catch {
      // Too deeply nested or invalid JSON: useless for an operator.
      this.options.onDrop(1);
    }
  }

  private async keepLong(given: AllBodies): Promise<void> {
    try {
      await nextTurn();
      const request = boundBody(given.request);
      await nextTurn();
      const sent = boundSent(given.sent);
      await nextTurn();
      this.add(given, request, sent, boundBody(parse(given.response), given.cut));
    } catch {
      this.options.onDrop(1);
    } finally {
      this.long -= 1;
    }
  }

  private add(
    { requestId, projectId, createdAtMs }: GivenBodies,
    ...[request, upstreamRequest, response]: readonly [string | null, string | null, string | null]
  ) {
    this.writer.add({ requestId, projectId, createdAtMs, request, upstreamRequest, response });
  }

  async flush(timeoutMs: number): Promise<void> {
    await inTime(this.lastLong, timeoutMs, () => {});
    return this.writer.flush(timeoutMs);
  }

  stop(): void {
    this.writer.stop();
  }
}

interface AllBodies extends GivenBodies {
  readonly sent: SentBody | undefined;
}

const isLong = ({ request, response = '', sent }: AllBodies): boolean =>
  response.length > LONG_CHARACTERS || isLongJson(request, LONG_CHARACTERS) || bytesOfSent(sent) > LONG_CHARACTERS;

/** Bodies written in slices are large. */
const bytesOfSent = (body: SentBody | undefined): number =>
  typeof body === 'string' ? body.length : body instanceof Uint8Array ? body.byteLength : body ? LARGE_JSON_LENGTH : 0;

/** A provider's format may be no JSON: then there is nothing to show. */
function boundSent(body: SentBody | undefined): string | null {
  if (body === undefined) return null;
  if (typeof body !== 'string' && 'value' in body) return boundBody(body.value);
  try {
    return boundBody(JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body)));
  } catch {
    return null;
  }
}

const parse = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text));

/** JSON text without secrets; beyond the cap `{truncated: true, characters, text}` with the beginning. */
export function boundBody(body: unknown, cutBefore = 0): string | null {
  if (body === undefined || body === null) return null;
  const { value, cut } = cutJson(body);
  const text = JSON.stringify(redactJson(value));
  if (cut + cutBefore === 0 && text.length <= MAX_BODY_CHARACTERS) return text;
  return JSON.stringify({
    truncated: true,
    characters: text.length + cut + cutBefore,
    text: text.slice(0, MAX_BODY_CHARACTERS).toWellFormed(),
  });
}

/**
 * Bounds further work; the cut lies well beyond the stored length, so that no half of a secret appears. `cut`:
 * characters.
 */
export function cutJson(value: unknown): { readonly value: unknown; readonly cut: number } {
  const budget = { left: MAX_BODY_CHARACTERS + MARGIN_CHARACTERS, cut: 0 };
  const kept = cutStrings(value, budget);
  return { value: kept, cut: budget.cut };
}

function cutStrings(value: unknown, budget: { left: number; cut: number }): unknown {
  if (typeof value === 'string') {
    const kept = value.length <= budget.left ? value : value.slice(0, Math.max(0, budget.left));
    budget.left -= value.length;
    budget.cut += value.length - kept.length;
    return kept;
  }
  if (value === null || typeof value !== 'object') return value;
  if (budget.left <= 0) {
    budget.cut += textLength(value);
    return null;
  }
  if (Array.isArray(value)) return value.map((part) => cutStrings(part, budget));
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, cutStrings(part, budget)]));
}

/** Characters of all texts in a value. */
function textLength(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let length = 0;
  for (const name in value) length += textLength((value as Record<string, unknown>)[name]);
  return length;
}
