import { expect, test } from 'bun:test';
import type { Attributes, Span } from '@llm0/core/tracing/span';
import { decodeTraces } from '@llm0/testing/fake-upstream/start-collector';
import fc from 'fast-check';
import { OtlpEncoder } from '../encode-otlp';
import { SpanEncoder } from './encode-spans';

const RESOURCE = { 'service.name': 'gateway', 'host.name': 'häuslich' };
const own = new SpanEncoder({ resource: RESOURCE, scope: { name: 'llm0-gateway', version: '1' } });
const theirs = new OtlpEncoder({ protocol: 'http/protobuf', resource: RESOURCE, version: '1' });

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });
const text = fc.oneof(fc.string(), fc.string({ unit: 'grapheme', maxLength: 300 }));
const name = fc.constantFrom(
  'gen_ai.usage.input_tokens',
  'llm0.cost_usd',
  'llm0.label.ä',
  'llm0.dropped_params',
  'gen_ai.request.top_p',
);
const double = fc.double({ noNaN: true, noDefaultInfinity: true });
// Whole numbers that no integer here can hold are doubles, which the serializer makes integers of.
const number = fc.oneof(
  ...[fc.integer(), fc.maxSafeInteger(), double.filter((one) => !Number.isInteger(one) || Number.isSafeInteger(one))],
);
const value = fc.oneof(text, number, fc.boolean(), fc.array(text, { maxLength: 3 }));
const attributes: fc.Arbitrary<Attributes> = fc.dictionary(name, value, { maxKeys: 5 });
const timeMs = fc.double({ min: 0, max: 4_102_444_800_000, noNaN: true });
const span: fc.Arbitrary<Span> = fc.record(
  {
    ...{ traceId: hex(32), spanId: hex(16), parentSpanId: hex(16), isParentRemote: fc.boolean() },
    ...{ state: fc.constant('rojo=1'), kind: fc.constantFrom('server', 'client'), name: text },
    ...{ startMs: timeMs, endMs: timeMs, attributes, error: text },
    events: fc.array(fc.record({ name: text, atMs: timeMs, attributes }), { maxLength: 2 }),
  },
  { requiredKeys: ['traceId', 'spanId', 'isParentRemote', 'kind', 'name', 'startMs', 'endMs', 'attributes'] },
);

const SPAN: Span = {
  ...{ traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8), isParentRemote: false, kind: 'server', name: 'a' },
  ...{ startMs: 1, endMs: 2, attributes: {} },
};

test("whatever spans there are, they read as those that OpenTelemetry's serializer writes", () => {
  fc.assert(
    fc.property(fc.array(span, { minLength: 1, maxLength: 4 }), (spans) => {
      expect(decodeTraces(own.encode(spans))).toEqual(decodeTraces(theirs.serializeSpans(spans)));
    }),
    { numRuns: 300 },
  );
});

test('texts of any length, whatever has to grow for them', () => {
  for (const unit of ['a', 'ä', '€']) {
    for (const length of [47, 48, 49, 127, 128, 5_461, 16_383, 16_384, 70_000, 700_000]) {
      const spans: Span[] = [
        { ...SPAN, name: unit.repeat(length) },
        { ...SPAN, name: 'next', attributes: { 'llm0.model': unit.repeat(length) } },
      ];
      expect(Bun.deepEquals(decodeTraces(own.encode(spans)), decodeTraces(theirs.serializeSpans(spans)))).toBe(true);
    }
  }
});

test('names beyond those that are kept, and what cannot be encoded, leave nothing behind', () => {
  const many = Array.from({ length: 1_200 }, (_, index) => [`llm0.label.ö${index}`, 'x'] as const);
  const spans = [{ ...SPAN, attributes: Object.fromEntries(many) }];
  for (let round = 0; round < 2; round++) {
    expect(Bun.deepEquals(decodeTraces(own.encode(spans)), decodeTraces(theirs.serializeSpans(spans)))).toBe(true);
    expect(() => own.encode([{ ...SPAN, startMs: Number.NaN }])).toThrow();
  }
});

test('no spans are no bytes', () => {
  expect(own.encode([]).length).toBe(0);
});
