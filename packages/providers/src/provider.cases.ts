import { describe, expect, test } from 'bun:test';
import type { ChatEvent } from '@llm0/core/chat/event';
import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { ChatResponse } from '@llm0/core/chat/response';
import { collectEvents } from '@llm0/core/chat/testing/collect-events';
import { GatewayError, type UpstreamFailure } from '@llm0/core/errors/gateway-error';
import fc from 'fast-check';
import type { Provider } from './provider';

/** A vendor's answer, streamed and (if it has a twin) plain. */
export interface AnswerFixture<Bytes extends string | Uint8Array = string> {
  readonly name: string;
  /** Bytes of the streamed answer, or their text. */
  readonly stream: Bytes;
  /** The same answer without streaming. */
  readonly plain?: JsonObject;
  /** Expected result of both. */
  readonly expected: ChatResponse;
}

export interface BrokenFixture<Bytes extends string | Uint8Array = string> {
  readonly name: string;
  readonly stream: Bytes;
  readonly failure: UpstreamFailure;
  /** Text before the failure, which must not be lost. */
  readonly text?: string;
}

export interface ProviderFixtures {
  readonly provider: Provider;
  readonly answers: readonly AnswerFixture<string | Uint8Array>[];
  readonly broken: readonly BrokenFixture<string | Uint8Array>[];
}

export const ANY_REQUEST: ChatRequest = { model: 'm', messages: [], stream: true, extra: {} };

/** Payloads as the events of a stream. */
export function sse(payloads: readonly JsonObject[], ...ends: readonly string[]): string {
  return [...payloads.map((payload) => JSON.stringify(payload)), ...ends].map((data) => `data: ${data}\n\n`).join('');
}

export function bytesOf(stream: string | Uint8Array): Uint8Array {
  return typeof stream === 'string' ? new TextEncoder().encode(stream) : stream;
}

interface Decoded {
  readonly events: readonly ChatEvent[];
  readonly error?: unknown;
}

/** Everything a decoder gives for the chunks, in order, and how it ended. */
export function decodeStream(provider: Provider, chunks: readonly Uint8Array[]): Decoded {
  const decoder = provider.createStreamDecoder(ANY_REQUEST);
  const events: ChatEvent[] = [];
  try {
    for (const chunk of chunks) if (!decoder.done) events.push(...decoder.push(chunk).events);
    events.push(...decoder.end().events);
    return { events };
  } catch (error) {
    return { events, error };
  }
}

/** Laws for every provider, over its own fixtures. */
export function checkProvider({ provider, answers, broken }: ProviderFixtures): void {
  describe(`provider ${provider.name}`, () => {
    for (const fixture of answers) {
      const bytes = bytesOf(fixture.stream);
      test(`${fixture.name}: streamed`, () => {
        const { events, error } = decodeStream(provider, [bytes]);
        expect(error).toBeUndefined();
        expect(events[0]?.type).toBe('start');
        expect(collectEvents(events)).toEqual(fixture.expected);
      });
      test(`${fixture.name}: any chunking gives the same events`, () => expectSameEvents(provider, bytes));
      test(`${fixture.name}: cut anywhere before its end, it is never complete`, () => {
        const lengths = cutsBeforeFinish(provider, bytes);
        for (const length of lengths) {
          const { error } = decodeStream(provider, [bytes.slice(0, length)]);
          expect(error).toBeInstanceOf(GatewayError);
        }
      });
      if (fixture.plain === undefined) continue;
      const { plain } = fixture;
      test(`${fixture.name}: whole`, () => {
        const batch = provider.decodeResponse(new TextEncoder().encode(JSON.stringify(plain)), ANY_REQUEST);
        expect(collectEvents(batch.events)).toEqual(fixture.expected);
        expect(batch.wire).toEqual({ kind: 'body', format: provider.wireFormat, body: plain });
      });
    }
    for (const fixture of broken) {
      const bytes = bytesOf(fixture.stream);
      test(`${fixture.name}: is a failure, however it is cut`, () => {
        for (const chunks of [[bytes], [...bytes].map((byte) => new Uint8Array([byte]))]) {
          const { events, error } = decodeStream(provider, chunks);
          expect(error).toBeInstanceOf(GatewayError);
          expect((error as GatewayError).failure).toBe(fixture.failure);
          expect(collectEvents(events).choices[0]?.text ?? undefined).toBe(fixture.text);
        }
      });
    }
    test('an unreadable whole answer is malformed', () => {
      for (const text of ['', '<html></html>', '[]', 'null', '{}', '{"choices":[]}', '"x"']) {
        expect(failureOf(() => provider.decodeResponse(new TextEncoder().encode(text), ANY_REQUEST))).toBe('malformed');
      }
    });
    test('any error answer gives one clear message, the right failure, and no secret', () => checkErrors(provider));
  });
}

function expectSameEvents(provider: Provider, bytes: Uint8Array): void {
  const whole = decodeStream(provider, [bytes]).events;
  expect(
    decodeStream(
      provider,
      [...bytes].map((byte) => new Uint8Array([byte])),
    ).events,
  ).toEqual([...whole]);
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (positions) => {
      const cuts = [0, ...positions.sort((a, b) => a - b), bytes.length];
      const chunks = cuts.slice(1).map((to, i) => bytes.slice(cuts[i], to));
      expect(decodeStream(provider, chunks).events).toEqual([...whole]);
    }),
    { numRuns: 30 },
  );
}

/** Some lengths before the answer's end mark. */
function cutsBeforeFinish(provider: Provider, bytes: Uint8Array): number[] {
  const decoder = provider.createStreamDecoder(ANY_REQUEST);
  let length = 0;
  for (; length < bytes.length; length++) {
    const { events } = decoder.push(bytes.slice(length, length + 1));
    if (events.some((event) => event.type === 'finish')) break;
  }
  return Array.from({ length: 12 }, (_, i) => Math.floor(((length - 1) * i) / 12));
}

function failureOf(run: () => unknown): UpstreamFailure | undefined {
  try {
    run();
  } catch (error) {
    return error instanceof GatewayError ? error.failure : undefined;
  }
  return undefined;
}

const FAILURES: readonly (readonly [number, UpstreamFailure, number | undefined])[] = [
  [400, 'rejected', 400],
  [401, 'auth', undefined],
  [402, 'rejected', 502],
  [403, 'auth', undefined],
  [404, 'not_found', undefined],
  [413, 'rejected', 413],
  [422, 'rejected', 422],
  [429, 'rate_limited', undefined],
  [500, 'server_error', undefined],
  [503, 'server_error', undefined],
  [529, 'server_error', undefined],
];

const SECRET = 'sk-proj-abcdefghijklmnop1234567890';

/** Error bodies of every shape → words that must be in the message. */
const ERROR_BODIES: readonly (readonly [string, string])[] = [
  [JSON.stringify({ error: { message: `No such thing, key ${SECRET}`, param: 'n' } }), 'No such thing'],
  [JSON.stringify({ error: `plain words ${SECRET}` }), 'plain words'],
  [JSON.stringify([{ error: { code: 429, message: `in a list ${SECRET}` } }]), 'in a list'],
  [JSON.stringify({ message: `bare ${SECRET}` }), 'bare'],
  [JSON.stringify({ detail: [{ msg: `validator ${SECRET}` }] }), 'validator'],
  [`<html><head><title>502 Bad Gateway</title></head><body>${SECRET}</body></html>`, '502 Bad Gateway'],
  ['', 'no message'],
  ['[[[[', 'no message'],
  [`x${'long '.repeat(5000)}${SECRET}`, 'long'],
];

function checkErrors(provider: Provider): void {
  for (const [status, failure, ownStatus] of FAILURES) {
    for (const [body, words] of ERROR_BODIES) {
      const headers = new Headers(status === 429 ? { 'retry-after': '7' } : {});
      const error = provider.decodeError(status, headers, body);
      expect(error.failure).toBe(failure);
      expect(error.status).toBe(ownStatus);
      expect(error.upstreamStatus).toBe(status);
      expect(error.retryAfterMs).toBe(status === 429 ? 7000 : undefined);
      expect(error.message).toContain(words);
      expect(error.message).not.toContain(SECRET);
      expect(error.message.length).toBeLessThan(1200);
    }
  }
}
