import { describe, expect, test } from 'bun:test';
import type { Attributes, Span } from '@llm0/core/tracing/span';
import { decodeJson, decodeProto, encodeProto, readSpans } from '@llm0/testing/fake-upstream/start-collector';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { OtlpEncoder } from '../encode-otlp';
import { isFraction } from '../names';
import type { OtlpMetric } from './encode-metrics';

const SENDER = { resource: { 'service.name': 'gateway', 'host.name': 'häuslich' }, version: '1' };
const proto = new OtlpEncoder({ ...SENDER, protocol: 'http/protobuf' });
const json = new OtlpEncoder({ ...SENDER, protocol: 'http/json' });

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
// No count is -0.
const double = fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => one + 0);
const number = fc.oneof(fc.integer(), fc.maxSafeInteger(), double);
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

/** Whole numbers are integers unless their name says that they are fractions. */
const doublesOf = (attributes: Attributes): string[] =>
  Object.entries(attributes).flatMap(([key, one]) =>
    typeof one === 'number' && (isFraction(key) || !Number.isSafeInteger(one)) ? [key] : [],
  );

// The reader is generated from OpenTelemetry's own message definitions.
describe('spans', () => {
  test('read as they were given', () => {
    fc.assert(
      fc.property(fc.array(span, { minLength: 1, maxLength: 4 }), (spans) => {
        const read = readSpans(proto.encodeSpans(spans));
        expect(read.length).toBe(spans.length);
        for (const [index, { traceId, spanId, parentSpanId = '', state = '', error, ...given }] of spans.entries()) {
          const status = { code: error === undefined ? 0 : 2, message: error ?? '' };
          const { name: title, attributes: own } = given;
          expect(read[index]).toMatchObject({ traceId, spanId, parentSpanId, traceState: state, status, name: title });
          expect(read[index]?.attributes).toEqual(own);
          expect(read[index]?.doubles).toEqual(doublesOf(own));
          expect(read[index]?.resource).toEqual(SENDER.resource);
        }
      }),
      { numRuns: runs(200) },
    );
  });

  test('say the same in JSON', () => {
    fc.assert(
      fc.property(fc.array(span, { minLength: 1, maxLength: 4 }), (spans) => {
        expect(decodeJson('traces', json.encodeSpans(spans))).toEqual(decodeProto('traces', proto.encodeSpans(spans)));
      }),
      { numRuns: runs(200) },
    );
  });

  test('keep texts of any length', () => {
    for (const unit of ['a', 'ä', '€']) {
      for (const length of [47, 48, 49, 127, 128, 5_461, 16_383, 16_384, 70_000, 700_000]) {
        const long = unit.repeat(length);
        const spans: Span[] = [
          { ...SPAN, name: long },
          { ...SPAN, name: 'next', attributes: { 'llm0.model': long } },
        ];
        const [first, next] = readSpans(proto.encodeSpans(spans));
        expect(first?.name === long && next?.attributes['llm0.model'] === long).toBe(true);
      }
    }
  });

  test('keep more names than the encoder remembers, and survive one that fails', () => {
    const many = Array.from({ length: 1_200 }, (_, index) => [`llm0.label.ö${index}`, 'x'] as const);
    const attributes = Object.fromEntries(many);
    for (let round = 0; round < 2; round++) {
      expect(readSpans(proto.encodeSpans([{ ...SPAN, attributes }]))[0]?.attributes).toEqual(attributes);
      expect(() => proto.encodeSpans([{ ...SPAN, startMs: Number.NaN }])).toThrow();
    }
  });

  test('have times to the nanosecond, flags, events and a scope', () => {
    const events = [{ name: 'e', atMs: 1.5, attributes: {} }];
    const given: Span = { ...SPAN, startMs: 1_700_000_000_000.25, endMs: 5, isParentRemote: true, events };
    const bytes = proto.encodeSpans([{ ...given, parentSpanId: 'ef'.repeat(8) }]);
    expect(decodeProto('traces', bytes)).toMatchObject({
      resourceSpans: [
        {
          scopeSpans: [
            {
              scope: { name: 'llm0-gateway', version: '1' },
              spans: [
                {
                  startTimeUnixNano: '1700000000000250000',
                  endTimeUnixNano: '1700000000000250000',
                  ...{ kind: 2, events: [{ name: 'e', timeUnixNano: '1500000' }] },
                },
              ],
            },
          ],
        },
      ],
    });
  });

  test('have flags that say whether the parent is remote', () => {
    const spans = [{ ...SPAN, isParentRemote: true, parentSpanId: 'ef'.repeat(8) }];
    // Field 16, fixed32; the generated reader is older than this field.
    expect(Buffer.from(proto.encodeSpans(spans)).includes(Buffer.from('850101030000', 'hex'))).toBe(true);
    expect(new TextDecoder().decode(json.encodeSpans(spans))).toContain('"flags":769');
  });

  test('are no bytes where there are none', () => {
    expect(proto.encodeSpans([]).length).toBe(0);
  });
});

describe('metrics', () => {
  const window = { startMs: 1_000, nowMs: 2_000.5 };
  const METRICS: readonly OtlpMetric[] = [
    { name: 'c', help: 'Counts.', kind: 'sum', ...window, points: [{ attributes: { a: 'ä' }, value: 3 }] },
    { name: 'g', help: 'Is.', kind: 'gauge', ...window, points: [{ attributes: {}, value: -0.5 }] },
    {
      ...{ name: 'h', help: 'Takes.', unit: 's', kind: 'histogram', ...window },
      points: [{ attributes: { b: true }, count: 300, sum: 2.5, bounds: [0.1, 1], counts: [1, 2, 297] }],
    },
  ];

  test('read as they were given', () => {
    const times = { startTimeUnixNano: '1000000000', timeUnixNano: '2000500000' };
    expect(decodeProto('metrics', proto.encodeMetrics(METRICS))).toMatchObject({
      resourceMetrics: [
        {
          scopeMetrics: [
            {
              metrics: [
                {
                  ...{ name: 'c', description: 'Counts.' },
                  sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: [{ ...times, asDouble: 3 }] },
                },
                { name: 'g', gauge: { dataPoints: [{ ...times, asDouble: -0.5 }] } },
                {
                  ...{ name: 'h', unit: 's' },
                  histogram: {
                    aggregationTemporality: 2,
                    dataPoints: [
                      {
                        ...{ ...times, count: '300', sum: 2.5 },
                        ...{ bucketCounts: ['1', '2', '297'], explicitBounds: [0.1, 1] },
                      },
                    ],
                  },
                },
              ],
            },
          ],
        },
      ],
    });
  });

  test('say the same in JSON', () => {
    const read = decodeJson('metrics', json.encodeMetrics(METRICS));
    expect(read).toEqual(decodeProto('metrics', proto.encodeMetrics(METRICS)));
  });
});

describe('a response', () => {
  const response = (rejectedSpans: number) =>
    encodeProto('response', { partialSuccess: { errorMessage: 'too old', rejectedSpans } });
  const text = (value: string) => new TextEncoder().encode(value);

  test.each<[string, Uint8Array, number]>([
    ['a part was refused', response(300), 300],
    ['all was taken', response(0), 0],
    ['nothing', new Uint8Array(), 0],
    ['nonsense', text('nonsense'), 0],
    ['a varint that does not end', new Uint8Array(20).fill(0xff), 0],
    ['less than it declares', response(300).slice(0, 4), 0],
  ])('in Protocol Buffers says %s', (_what, bytes, rejected) => {
    expect(proto.rejectedSpans(bytes)).toBe(rejected);
  });

  test.each<[string, number]>([
    ['{"partialSuccess":{"rejectedSpans":"7"}}', 7],
    ['{"partialSuccess":{"rejectedSpans":7}}', 7],
    ['{"partialSuccess":{"rejectedSpans":-7}}', 0],
    ['{}', 0],
    ['null', 0],
    ['', 0],
  ])('in JSON is read: %s', (body, rejected) => {
    expect(json.rejectedSpans(text(body))).toBe(rejected);
  });
});
