import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { readRetryAfterMs } from '../retry-after';
import { upstreamAnswerError } from '../upstream-failure';
import { asNumber, asObject, asString } from './wire';

/** Any answer other than 2xx → one clear error. Bodies come as `{error: {…}}`, `{error: "…"}`, a list, HTML or nothing. */
export function decodeError(provider: string, status: number, headers: Headers, body: string): GatewayError {
  const found = findError(parseJson(body));
  return upstreamAnswerError({
    provider,
    status,
    message: found.message ?? plainText(body),
    param: found.param,
    retryAfterMs: readRetryAfterMs(headers, Date.now()),
  });
}

/** An error object inside a 200 (a chunk of a stream, or a whole body); undefined when there is none. */
export function decodeErrorObject(provider: string, value: JsonObject): GatewayError | undefined {
  const isError =
    (value.error !== undefined && value.error !== null && value.error !== false) || value.object === 'error';
  if (!isError) return undefined;
  const found = findError(value);
  return upstreamAnswerError({
    provider,
    status: found.status ?? 502,
    message: found.message ?? 'an error without a message',
    param: found.param,
  });
}

interface FoundError {
  readonly message?: string;
  readonly param?: string;
  /** HTTP status, where the error names one. */
  readonly status?: number;
}

const STATUS_BY_TYPE: Readonly<Record<string, number>> = {
  rate_limit_exceeded: 429,
  rate_limit_error: 429,
  insufficient_quota: 429,
  invalid_request_error: 400,
  overloaded_error: 529,
};

function findError(value: JsonValue | undefined): FoundError {
  if (Array.isArray(value)) return findError(value[0]);
  const body = asObject(value);
  if (body === undefined) return {};
  const inner = Array.isArray(body.error) ? asObject(body.error[0]) : asObject(body.error);
  const error = inner ?? body;
  const words = [asString(body.error), error.message, error.detail, error.error_message, body.message, body.detail];
  const message = words.map(textOf).find((text) => text !== undefined);
  const named = [error.status, error.code, error.status_code].map(httpStatus).find((status) => status !== undefined);
  const typed = [error.type, error.code].map((name) => STATUS_BY_TYPE[asString(name) ?? '']).find(Boolean);
  return { message, param: asString(error.param), status: named ?? typed };
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string' && value.trim() !== '') return value;
  return typeof value === 'object' && value !== null ? JSON.stringify(value).slice(0, 1000) : undefined;
}

function httpStatus(value: JsonValue | undefined): number | undefined {
  const number = asNumber(value) ?? (typeof value === 'string' && /^[45]\d\d$/.test(value) ? Number(value) : undefined);
  return number !== undefined && number >= 400 && number < 600 ? number : undefined;
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Text of a page that is not JSON: its title where it has one, never its markup. */
function plainText(body: string): string {
  const start = body.slice(0, 20_000);
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(start)?.[1];
  if (title !== undefined) return title;
  return /^\s*[[{]/.test(start) ? '' : start.replace(/<(script|style)[\s\S]*?<\/\1>/gi, ' ').replace(/<[^>]*>/g, ' ');
}
