import { createHmac } from 'node:crypto';
import { isObject, type JsonValue } from '../../chat/json';
import { type JudgedText, NOTHING_FOUND, type TextCheck, type Verdict } from '../check';
import type { Span } from '../span';
import type { CheckNeeds } from './check-needs';

export interface WebhookRule {
  readonly url: string;
  readonly timeoutMs: number;
}

const MAX_TIMEOUT_MS = 60_000;
const MAX_TEXT_LENGTH = 4 * 1024 * 1024;
/** Limit for an answer: the replacement text plus everything else. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
const MAX_REASON_LENGTH = 300;
const MAX_SPANS = 1000;
const DEFAULT_REASON = 'The text was refused by a check of the operator.';

/** Finds texts that the operator's service rejects. Throws without a timely verdict. */
export function checkWithWebhook(
  { url, timeoutMs }: WebhookRule,
  needs: Pick<CheckNeeds, 'post' | 'webhookSecret' | 'nowMs' | 'createId'>,
): TextCheck {
  if (!(timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS))
    throw new Error(`"timeout_ms" must be above 0, and ${MAX_TIMEOUT_MS} at the most`);
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) throw new Error('"url" must be an http(s) URL');
  if (parsed.username !== '' || parsed.password !== '') throw new Error('"url" must not hold credentials');
  return {
    async judge(judged, signal) {
      if (judged.text.length > MAX_TEXT_LENGTH) throw new Error('the text is too long for a webhook');
      const within = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const body = bodyFor(judged);
      const headers = {
        'content-type': 'application/json',
        ...signatureOf(body, await needs.webhookSecret(judged.projectId), needs),
      };
      const answer = await needs
        .post({ url, headers, body, maxAnswerBytes: MAX_ANSWER_BYTES }, within)
        .catch((error) => {
          within.throwIfAborted();
          throw error;
        });
      if (answer.status !== 200) throw new Error(`the webhook answered with status ${answer.status}`);
      return readVerdict(answer.body, judged.text);
    },
  };
}

const bodyFor = ({ text, on, part, projectId, keyId, requestId }: JudgedText): string =>
  JSON.stringify({
    type: 'guardrail.check',
    data: { on, part, text, project_id: projectId, api_key_id: keyId, request_id: requestId },
  });

/** Source: the Standard Webhooks specification, which has libraries that verify it in most languages. */
export function signatureOf(
  body: string,
  secret: Uint8Array,
  { nowMs, createId }: Pick<CheckNeeds, 'nowMs' | 'createId'>,
): Readonly<Record<string, string>> {
  const id = `msg_${createId()}`;
  const timestamp = String(Math.floor(nowMs() / 1000));
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

/** `allow`, `match` (with or without where) or `replace`; throws for everything else. */
function readVerdict(body: string, text: string): Verdict {
  const answer = parse(body);
  switch (answer.verdict) {
    case 'allow':
      return NOTHING_FOUND;
    case 'match': {
      const spans = readSpans(answer.spans, text);
      return {
        count: readCount(answer.count, spans),
        reason: readReason(answer.reason),
        ...(spans === undefined ? {} : { spans }),
      };
    }
    case 'replace':
      if (typeof answer.text !== 'string') throw unreadable('"replace" without "text"');
      return { count: readCount(answer.count, undefined), reason: readReason(answer.reason), replacement: answer.text };
    default:
      throw unreadable('no verdict');
  }
}

const unreadable = (what: string): Error => new Error(`the webhook's answer cannot be used: ${what}`);

function parse(body: string): Readonly<Record<string, unknown>> {
  let value: JsonValue;
  try {
    value = JSON.parse(body) as JsonValue;
  } catch (cause) {
    throw new Error("the webhook's answer cannot be used: no JSON", { cause });
  }
  if (!isObject(value)) throw unreadable('no object');
  return value;
}

function readCount(count: unknown, spans: readonly Span[] | undefined): number {
  if (count === undefined) return Math.max(1, spans?.length ?? 1);
  if (!Number.isSafeInteger(count) || (count as number) < 1) throw unreadable('"count" is no number of matches');
  return count as number;
}

const readReason = (reason: unknown): string =>
  typeof reason === 'string' && reason !== '' ? reason.slice(0, MAX_REASON_LENGTH) : DEFAULT_REASON;

/** Characters of the text (code points), as `[[from, to], …]`, in order. */
function readSpans(given: unknown, text: string): readonly Span[] | undefined {
  if (given === undefined) return undefined;
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_SPANS)
    throw unreadable('"spans" is no list of them');
  const ends: number[] = [];
  for (const pair of given) {
    const [from, to, ...rest] = Array.isArray(pair) ? (pair as readonly unknown[]) : [];
    const isSpan = Number.isSafeInteger(from) && Number.isSafeInteger(to) && rest.length === 0;
    if (!isSpan || (from as number) < (ends.at(-1) ?? 0) || (to as number) <= (from as number))
      throw unreadable('a span that is none');
    ends.push(from as number, to as number);
  }
  const units = unitsAt(text, ends);
  return Array.from({ length: ends.length / 2 }, (_, index) => ({
    ...{ start: units[2 * index] ?? 0, end: units[2 * index + 1] ?? 0, kind: 'match' },
  }));
}

/** Converts character positions to UTF-16 units; `at` ascends. */
function unitsAt(text: string, at: readonly number[]): readonly number[] {
  const units: number[] = [];
  let points = 0;
  let unit = 0;
  for (const wanted of at) {
    for (; points < wanted; points++) {
      const code = text.codePointAt(unit);
      if (code === undefined) throw unreadable('a span beyond the text');
      unit += code > 0xffff ? 2 : 1;
    }
    units.push(unit);
  }
  return units;
}
