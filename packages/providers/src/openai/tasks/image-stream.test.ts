import { describe, expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { createImageStreamReader } from './image-stream';
import { readImageUsage } from './image-usage';

const USAGE = { input_tokens: 12, output_tokens: 300, input_tokens_details: { image_tokens: 2, text_tokens: 10 } };
const picture = (length: number) => 'QUJD'.repeat(length);
const event = (type: string, more: object, end = '\n') =>
  `event: ${type}${end}data: ${JSON.stringify({ type, ...more })}${end}${end}`;

function read(text: string, sizes: readonly number[], count = 1) {
  const reader = createImageStreamReader('openai', count);
  const bytes = Buffer.from(text);
  for (let at = 0, index = 0; at < bytes.length; index++) {
    const size = sizes[index % sizes.length] ?? bytes.length;
    reader.push(bytes.subarray(at, at + size));
    at += size;
  }
  return reader;
}

describe('a stream of images', () => {
  test('tells its usage however it is cut, and however large its pictures are', () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 9000 }), { minLength: 1, maxLength: 5 });
    const lengths = fc.array(fc.constantFrom(1, 100, 2100, 9000), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(cuts, lengths, fc.constantFrom('\n', '\r\n'), fc.boolean(), (sizes, partials, end, isFirst) => {
        const parts = partials.map((length) =>
          event('image_generation.partial_image', { b64_json: picture(length) }, end),
        );
        const b64_json = picture(5000);
        const whole = isFirst ? { usage: USAGE, b64_json } : { b64_json, usage: USAGE };
        const text = [...parts, event('image_generation.completed', whole, end)].join('');
        const reader = read(text, sizes);
        expect([reader.isBegun, reader.isComplete, reader.isAll]).toEqual([true, true, true]);
        const counted = { inputTokens: 10, inputImageTokens: 2, outputImageTokens: 300, units: { images: 1 } };
        expect(reader.usage).toMatchObject(counted);
        const cut = read(parts.join(''), sizes);
        expect([cut.isBegun, cut.isComplete, cut.usage]).toEqual([true, false, undefined]);
      }),
      { numRuns: runs(200) },
    );
  });

  test('a first picture is an output before it ends', () => {
    const started = read(`data: {"type":"image_generation.partial_image","b64_json":"${picture(50)}`, [64]);
    expect([started.isBegun, started.isComplete]).toEqual([true, false]);
    expect(read(': keep-alive\n\n', [3]).isBegun).toBe(false);
  });

  test('an error is thrown in the words of the vendor', () => {
    const error = { error: { type: 'rate_limit_exceeded', message: 'Slow down' } };
    expect(() => read(event('error', error), [7])).toThrow('Slow down');
    expect(() => read('data: {"error":{"message":"no image"}}\n\n', [7])).toThrow('no image');
  });

  test('several images have several usages', () => {
    const one = event('image_generation.completed', { b64_json: picture(1), usage: USAGE });
    const [first, both] = [read(one, [99], 2), read(one + one, [99], 2)];
    expect([first.isComplete, first.isAll, both.isAll]).toEqual([true, false, true]);
    expect(both.usage).toMatchObject({ inputTokens: 20, outputImageTokens: 600 });
  });
});

describe('usage of images', () => {
  const shapes: readonly [told: object, read: object][] = [
    [USAGE, { inputTokens: 10, inputImageTokens: 2, outputImageTokens: 300, outputTokens: 0 }],
    // Without details, input is text, and output an image.
    [
      { input_tokens: 5, output_tokens: 7 },
      { inputTokens: 5, inputImageTokens: 0, outputImageTokens: 7 },
    ],
    [
      { input_tokens: 10, output_tokens: 9, output_tokens_details: { text_tokens: 4, image_tokens: 5 } },
      { outputTokens: 4, outputImageTokens: 5 },
    ],
    // Cached text first: the smaller discount.
    [
      {
        input_tokens: 10,
        output_tokens: 1,
        input_tokens_details: { image_tokens: 4, text_tokens: 6, cached_tokens: 8 },
      },
      { inputTokens: 0, cacheReadTokens: 6, inputImageTokens: 2, cacheReadImageTokens: 2 },
    ],
    [
      {
        ...{ input_tokens: 10, output_tokens: 1 },
        input_tokens_details: { image: 4, text: 6, cached_tokens: 3, cached_tokens_details: { image_tokens: 3 } },
      },
      { inputTokens: 6, cacheReadTokens: 0, inputImageTokens: 1, cacheReadImageTokens: 3 },
    ],
    [{ input_tokens: 10 }, { inputTokens: 10, untold: 'output' }],
  ];

  test.each(shapes)('%j', (told, expected) => {
    expect(readImageUsage(told as never)).toMatchObject(expected);
  });

  test("of a drawing is its own model's, and none is none", () => {
    expect(readImageUsage(USAGE, { model: 'gpt-5.6', reasoning_tokens: 40 })).toMatchObject({
      ...{ inputTokens: 10, outputImageTokens: 300, reasoningTokens: 0 },
      helper: { model: 'gpt-5.6', usage: { reasoningTokens: 40 } },
    });
    const whole = { model: 'gpt-5.6', input_tokens: 100, output_tokens: 50, reasoning_tokens: 40, total_tokens: 150 };
    expect(readImageUsage(USAGE, whole)?.helper).toMatchObject({
      usage: { inputTokens: 100, outputTokens: 10, reasoningTokens: 40 },
    });
    expect([readImageUsage(undefined), readImageUsage({ input_tokens: -1 })]).toEqual([undefined, undefined]);
  });
});
