import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createSampler } from './sampler';
import {
  attemptSpanId,
  parseTraceContext,
  parseTraceState,
  requestSpanId,
  traceHeaders,
  traceOfRequest,
  withSampling,
} from './trace-context';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = '00f067aa0ba902b7';

describe('traceparent', () => {
  test.each([
    ['sampled', `00-${TRACE}-${SPAN}-01`, 1],
    ['not sampled', `00-${TRACE}-${SPAN}-00`, 0],
    ['random', `00-${TRACE}-${SPAN}-03`, 3],
    ['flags that are not known yet', `00-${TRACE}-${SPAN}-ff`, 3],
    ['a later version', `cc-${TRACE}-${SPAN}-01`, 1],
    ['a later version with more fields', `cc-${TRACE}-${SPAN}-01-what-comes-then`, 1],
  ])('is read: %s', (_what, text, flags) => {
    expect(parseTraceContext(text, null)).toEqual({ traceId: TRACE, parentSpanId: SPAN, flags, state: undefined });
  });

  test.each([
    ['empty', ''],
    ['version ff', `ff-${TRACE}-${SPAN}-01`],
    ['no trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['no span', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['upper case', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['too long for its version', `00-${TRACE}-${SPAN}-01-more`],
    ['a later version that ends wrongly', `cc-${TRACE}-${SPAN}-01.more`],
    ['too short', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['flags of one digit', `00-${TRACE}-${SPAN}-1`],
    ['twice', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
    ['endless', `cc-${TRACE}-${SPAN}-01-${'a'.repeat(5000)}`],
  ])('is no header of ours: %s', (_what, text) => {
    expect(parseTraceContext(text, 'a=1')).toBeUndefined();
  });

  test('any input yields a valid traceparent', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), fc.string({ maxLength: 600 }), (parent, state) => {
        const context = parseTraceContext(parent, state);
        if (context === undefined) return;
        const headers = new Headers(traceHeaders(context, SPAN));
        expect(parseTraceContext(headers.get('traceparent') ?? '', headers.get('tracestate'))).toBeDefined();
      }),
    );
  });
});

describe('tracestate', () => {
  test.each([
    ['rojo=00f067aa0ba902b7,congo=t61rcWkgMzE', 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'],
    [' a=1 ,\tb=2,, ', 'a=1,b=2'],
    ['tenant@vendor=x y', 'tenant@vendor=x y'],
  ])('is read: %s', (text, read) => expect(parseTraceState(text)).toBe(read));

  test.each([
    [''],
    ['a'],
    ['a=1,a=2'],
    ['A=1'],
    ['a=é'],
    ['a=b=c'],
    ['a=1\r\nx-evil: 1'],
    [Array.from({ length: 33 }, (_, i) => `k${i}=1`).join(',')],
    [`a=${'b'.repeat(600)}`],
  ])('is left out: %j', (text) => expect(parseTraceState(text)).toBeUndefined());
});

describe('ids', () => {
  test('are those of the request, and differ within it', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.integer({ min: 1, max: 0x7fff }), fc.integer({ min: 1, max: 0x7fff }), (id, a, b) => {
        const isHex = /^(?!0+$)[0-9a-f]{16}$/;
        expect(requestSpanId(id)).toMatch(isHex);
        expect(attemptSpanId(id, a)).toMatch(isHex);
        expect(attemptSpanId(id, a) === attemptSpanId(id, b)).toBe(a === b);
        expect(attemptSpanId(id, a)).not.toBe(requestSpanId(id));
        expect(traceOfRequest(id).traceId).toBe(id.replaceAll('-', ''));
      }),
    );
  });
});

describe('samplers', () => {
  const root = () => traceOfRequest(Bun.randomUUIDv7());
  const child = (isSampled: boolean) => withSampling({ ...root(), parentSpanId: SPAN }, isSampled);

  test.each([
    ['always_on', true, true, true],
    ['always_off', false, false, false],
    ['parentbased_always_on', true, true, false],
    ['parentbased_always_off', false, true, false],
  ] as const)('%s', (name, ofRoot, ofSampled, ofUnsampled) => {
    const sample = createSampler(name, 1);
    expect([sample(root()), sample(child(true)), sample(child(false))]).toEqual([ofRoot, ofSampled, ofUnsampled]);
  });

  test('by trace id: its share, the same for all, and more with a larger ratio', () => {
    const traces = Array.from({ length: 4000 }, root);
    const share = (ratio: number) => traces.filter(createSampler('traceidratio', ratio)).length / traces.length;
    expect(share(0)).toBe(0);
    expect(share(1)).toBe(1);
    expect(share(0.25)).toBeCloseTo(0.25, 1);
    const few = traces.filter(createSampler('parentbased_traceidratio', 0.1));
    expect(few.every(createSampler('traceidratio', 0.3))).toBe(true);
  });
});
