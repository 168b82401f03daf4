import { type JsonObject, type JsonValue, parseJson } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { guardNativeAnswer, guardNativeRequest, hasUnjudgedNames } from '@llm0/core/guardrails/chat/guard-native';
import { guardNativeEvents } from '@llm0/core/guardrails/chat/guard-native-events';
import { GuardedTexts } from '@llm0/core/guardrails/chat/guard-texts';
import { AnswerRefused, blockedBy } from '@llm0/core/guardrails/refusals';
import type { RequestGuard } from '@llm0/core/guardrails/request-guard';
import type { Services } from '../../services/contract';
import { forwardedRequestHeaders } from '../request/forwarded-headers';
import { type NativeBody, rewrite } from '../request/native-body';
import { type GuardedRequest, type GuardInput, guardKind, type JudgedKind } from './guard-input';

type Needs = Pick<Services, 'keyCache' | 'clock' | 'hotStore' | 'refreshTables'>;

/** A request in a vendor's own format. */
export interface NativeRequest {
  readonly given: NativeBody;
  /** Begins with a slash. */
  readonly path: string;
  /** False for endpoints whose content the gateway can't read. */
  readonly isKnown: boolean;
  /** The caller's query. */
  readonly query: URLSearchParams;
  /** The caller's headers; forwarded ones are judged. */
  readonly headers: Headers;
}

/** Judges a native request; refuses unreadable ones. */
export const guardNative = (
  services: Needs,
  input: GuardInput<NativeRequest>,
): Promise<GuardedRequest<NativeRequest> | undefined> => guardKind(services, input, NATIVE);

const NATIVE: JudgedKind<NativeRequest> = { judge, textOf: ({ given }) => given.json };

async function judge(guard: RequestGuard, request: NativeRequest): Promise<NativeRequest> {
  const { given, path, isKnown, query } = request;
  if (!isKnown) {
    const message = "This project has guardrails, and they can't check requests at this path.";
    throw new GatewayError('permission_denied', message);
  }
  if (!guard.guardrails.asksInput) return request;
  const texts = new GuardedTexts(guard, 'input');
  for (const text of [path, ...[...query].flat()].flatMap(readings)) {
    if ((await texts.id(text)) !== text) throw refusedOf('URL');
  }
  const headers = await judgeHeaders(texts, request.headers);
  const json = given.json && (await guardNativeRequest(guard, given.json));
  if (json === given.json && headers === request.headers) return request;
  const body = json === undefined || json === given.json ? given : await rewrite(given, json);
  return { ...request, headers, given: body };
}

/** Judged headers of the caller; the same object if the forwarded ones are clean. */
async function judgeHeaders(texts: GuardedTexts, headers: Headers): Promise<Headers> {
  let judged: Headers | undefined;
  for (const [name, value] of Object.entries(forwardedRequestHeaders(headers))) {
    if ((await texts.id(name)) !== name) throw refusedOf('headers');
    const said = await texts.id(value);
    if (said === value) continue;
    judged ??= new Headers(headers);
    // A replacement may contain the policy's own words, and headers can't contain line breaks.
    judged.set(name, said.replace(/[^\x20-\x7e]/g, '?'));
  }
  return judged ?? headers;
}

const refusedOf = (what: string): GatewayError =>
  new GatewayError('guardrail_blocked', `A guardrail of this project blocks this request's ${what}.`);

const MOST_READINGS = 4;

/** A text of a URL with its decoded forms: a reader may decode more than once. */
function readings(text: string): string[] {
  const read = [text];
  for (let last = text; read.length < MOST_READINGS; read.push(last)) {
    const next = decoded(last);
    if (next === last) break;
    last = next;
  }
  return read;
}

/** Invalid escapes stay. */
const decoded = (text: string): string =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });

/**
 * Judges a whole native answer; returns the same text if clean. Throws `guardrail_blocked`, also for unreadable text.
 */
export async function judgeNativeAnswer(guard: RequestGuard, text: string, contentType: string): Promise<string> {
  const kind = contentType.split(';')[0]?.trim().toLowerCase();
  try {
    if (kind === 'text/event-stream') return await judgeStream(guard, text);
    if (kind === 'application/json') return await judgeJson(guard, text);
    throw unreadable();
  } catch (cause) {
    throw cause instanceof AnswerRefused ? blockedBy(cause.rule, 'output') : cause;
  }
}

async function judgeJson(guard: RequestGuard, text: string): Promise<string> {
  const body = parseJson(text);
  if (body === undefined) throw unreadable();
  const mayStay = !(await hasUnjudgedNames(guard, text, body));
  // A stream may arrive as one list of events.
  if (Array.isArray(body)) return (await guardNativeEvents(guard, body)) || !mayStay ? JSON.stringify(body) : text;
  const judged = await guardNativeAnswer(guard, body);
  return judged === body && mayStay ? text : JSON.stringify(judged);
}

const FIELD = /^([a-z]{1,20}):(.*)$/;
/** Fields of an event besides its data. */
const OTHERS: ReadonlySet<string> = new Set(['event', 'id', 'retry']);
/** Comments reach nobody, so they aren't judged: an empty one is forwarded. */
const COMMENT = /^:./;

/** Server-sent events, one JSON each. */
async function judgeStream(guard: RequestGuard, text: string): Promise<string> {
  const lines = text.split(/(\r\n|\n|\r)/);
  const at: number[] = [];
  const events: JsonValue[] = [];
  let hasComments = false;
  let mayStay = true;
  for (const [index, line] of lines.entries()) {
    if (COMMENT.test(line)) {
      lines[index] = ':';
      hasComments = true;
      continue;
    }
    if (line.trim() === '') continue;
    const [, name = '', value = ''] = FIELD.exec(line) ?? [];
    const said = value.trim();
    if (name === 'data' && (said === '[DONE]' || said === '')) continue;
    // Guardrails read an event's name and id as well.
    const event = name === 'data' ? parseJson(said) : OTHERS.has(name) ? { [name]: said } : undefined;
    if (event === undefined) throw unreadable();
    if (name === 'data' && (await hasUnjudgedNames(guard, said, event))) mayStay = false;
    at.push(index);
    events.push(event);
  }
  const hasChanged = await guardNativeEvents(guard, events);
  if (!hasChanged && mayStay) return hasComments ? lines.join('') : text;
  for (const [index, line] of at.entries()) {
    const other = /^(?!data)[a-z]+/.exec(lines[line] ?? '')?.[0];
    const event = events[index] as JsonValue;
    lines[line] =
      other === undefined ? `data: ${JSON.stringify(event)}` : `${other}: ${String((event as JsonObject)[other])}`;
  }
  return lines.join('');
}

const unreadable = (): GatewayError =>
  new GatewayError('guardrail_blocked', "The guardrails of this project can't read this answer, so it is withheld.");

/** True if the guardrails judge answers. */
export const judgesAnswers = (guard: RequestGuard | undefined): guard is RequestGuard =>
  guard !== undefined && (guard.guardrails.asksOutput || guard.hasPseudonyms);
