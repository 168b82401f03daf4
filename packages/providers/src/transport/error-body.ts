import { type JsonObject, type JsonValue, parseJson } from '@llm0/core/chat/json';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { asNumber, asObject, asString } from '../translation/read-json';
import { readRetryAfterMs } from './retry-after';
import { upstreamAnswerError } from './upstream-failure';

/** Differences between vendors' error bodies. */
export interface ErrorDialect {
  readonly provider: string;
  /** The vendor's error types → HTTP status, for errors inside a 200. */
  readonly statusByType: Readonly<Record<string, number>>;
  /** Milliseconds until a retry may succeed, if the error's body has them. */
  readonly readRetryMs?: (error: JsonObject) => number | undefined;
}

export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Any answer other than 2xx → one clear error. Bodies may be `{error: {…}}`, `{error: "…"}`, a list, HTML or empty. */
export function decodeErrorAnswer(dialect: ErrorDialect, answer: ErrorAnswer): GatewayError {
  const found = findError(parseJson(answer.body), dialect);
  return upstreamAnswerError({
    provider: dialect.provider,
    status: answer.status,
    message: found.message ?? plainText(answer.body),
    param: found.param,
    retryAfterMs: readRetryAfterMs(answer.headers, Date.now()) ?? found.retryAfterMs,
  });
}

/** An error object inside a 200 (an event of a stream, or a whole body); undefined when there is none. */
export function decodeErrorObject(dialect: ErrorDialect, value: JsonObject): GatewayError | undefined {
  const isError =
    (value.error !== undefined && value.error !== null && value.error !== false) || value.object === 'error';
  if (!isError) return undefined;
  const found = findError(value, dialect);
  return upstreamAnswerError({
    provider: dialect.provider,
    status: found.status ?? 502,
    message: found.message ?? 'an error without a message',
    param: found.param,
    retryAfterMs: found.retryAfterMs,
  });
}

/** Decodes both error forms of a vendor. */
export const createErrorDecoders = (dialect: ErrorDialect) => ({
  /** Any answer other than 2xx. */
  decodeError: (answer: ErrorAnswer): GatewayError => decodeErrorAnswer(dialect, answer),
  /** An error object inside a 200; undefined when there is none. */
  decodeErrorObject: (value: JsonObject): GatewayError | undefined => decodeErrorObject(dialect, value),
});

interface FoundError {
  readonly message?: string;
  readonly param?: string;
  /** HTTP status, where the error names one. */
  readonly status?: number;
  readonly retryAfterMs?: number;
}

function findError(value: JsonValue | undefined, dialect: ErrorDialect): FoundError {
  if (Array.isArray(value)) return findError(value[0], dialect);
  const body = asObject(value);
  if (body === undefined) return {};
  const inner = Array.isArray(body.error) ? asObject(body.error[0]) : asObject(body.error);
  const error = inner ?? body;
  const words = [asString(body.error), error.message, error.detail, error.error_message, body.message, body.detail];
  const message = words.map(textOf).find((text) => text !== undefined);
  const named = [error.status, error.code, error.status_code].map(httpStatus).find((status) => status !== undefined);
  const typed = [error.type, error.code].map((name) => statusOfType(dialect, asString(name))).find(Boolean);
  return {
    message,
    param: asString(error.param),
    status: named ?? typed,
    retryAfterMs: dialect.readRetryMs?.(error),
  };
}

function statusOfType({ statusByType }: ErrorDialect, name: string | undefined): number | undefined {
  return name !== undefined && Object.hasOwn(statusByType, name) ? statusByType[name] : undefined;
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string' && value.trim() !== '') return value;
  return typeof value === 'object' && value !== null ? JSON.stringify(value).slice(0, 1000) : undefined;
}

function httpStatus(value: JsonValue | undefined): number | undefined {
  const number = asNumber(value) ?? (typeof value === 'string' && /^[45]\d\d$/.test(value) ? Number(value) : undefined);
  return number !== undefined && number >= 400 && number < 600 ? number : undefined;
}

/** Text of a non-JSON page: its title if any, never its markup. */
function plainText(body: string): string {
  const start = body.slice(0, 20_000);
  const title = /<title[^<>]{0,200}>([^<]{0,1000})<\/title>/i.exec(start)?.[1];
  if (title !== undefined) return title;
  if (/^\s*[[{]/.test(start)) return '';
  return [...withoutScripts(start)].join(' ').replace(/<[^<>]*>/g, ' ');
}

/** Text around scripts and styles; an unclosed one extends to the end. */
function* withoutScripts(page: string): Generator<string> {
  const pieces = page.split(/<(script|style)\b/i);
  yield pieces[0] ?? '';
  for (let i = 1; i < pieces.length; i += 2) {
    const rest = pieces[i + 1] ?? '';
    const end = rest.toLowerCase().indexOf(`</${pieces[i]?.toLowerCase()}>`);
    if (end >= 0) yield rest.slice(end);
  }
}
