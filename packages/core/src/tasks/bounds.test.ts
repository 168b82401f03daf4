import { describe, expect, test } from 'bun:test';
import type { PricedModel } from '../pricing/price-book';
import { boundDecision } from './decision';
import { boundImages, type ImageRequest } from './image';
import { boundRerank, rankDocuments } from './rerank';

const priced = (prices: PricedModel['prices'], more: Partial<PricedModel> = {}): PricedModel => ({
  ...{ provider: 'p', model: 'm', mode: 'image', prices, capabilities: [] },
  ...more,
});
const image: ImageRequest = { model: 'm', prompt: 'a red fox', stream: false, count: 1, extra: {} };
const TOKENS = { input: 1, output_image: 1 };

describe('the bound of images', () => {
  test.each([
    [{ quality: 'low', size: '1024x1024' }, 272],
    [{ quality: 'medium', size: '1024x1536' }, 1584],
    [{ quality: 'high', size: '1536x1024' }, 6240],
    // Without either, the largest usual one of high quality.
    [{}, 6240],
    [{ quality: 'low', size: '1024x1024', count: 3, partialImages: 2 }, 3 * (272 + 200)],
    [{ quality: 'low', size: '3840x2160' }, 2152],
    // No image is billed below the smallest usual one.
    [{ quality: 'low', size: '16x16' }, 272],
    // Sizes that the vendor doesn't list cost what the largest one does, unknown qualities what the best one does.
    [{ quality: 'low', size: '1x1' }, 2152],
    [{ quality: 'low', size: '1024x4096' }, 2152],
    [{ quality: 'low', size: '16000x16000' }, 66_407],
    [{ quality: 'auto', size: '1024x1024' }, 4160],
    [{ quality: 'ultra', size: '1024x1024' }, 16_640],
    [{ quality: 'constructor', size: '1024x1024' }, 16_640],
    [{ quality: 'odd', size: '1x1' }, 131_625],
    [{ quality: 'low', size: '1024x1024', extra: { frame_count: 4 } }, 4 * 272],
    [{ quality: 'low', size: '1024x1024', extra: { frame_count: '4' } }, 4 * 272],
  ])('%j has %d tokens', (fields, tokens) => {
    expect(boundImages({ ...image, ...fields }, priced(TOKENS), false).outputImageTokens).toBe(tokens);
  });

  test('names the variant that has a price, and else the dearest', () => {
    const sizes = { image_low_1024x1024: 1, image_high_1024x1024: 9 };
    const variant = (fields: Partial<ImageRequest>, prices: PricedModel['prices'], strict = false) =>
      boundImages({ ...image, ...fields }, priced(prices), strict).imageVariant;
    const odd = { quality: 'odd', size: '1x1' };
    expect(variant({ quality: 'low', size: '1024x1024' }, sizes, true)).toBe('low_1024x1024');
    expect(variant({}, sizes, true)).toBe('high_1024x1024');
    expect(variant(odd, sizes)).toBe('high_1024x1024');
    expect(variant({}, { ...sizes, image: 2 })).toBeUndefined();
    // Under strict caps, the vendor may choose what costs more than the common price.
    expect(variant({}, { ...sizes, image: 2 }, true)).toBe('high_1024x1024');
    expect(variant(odd, { ...sizes, image: 2 }, true)).toBe('high_1024x1024');
    expect(variant(odd, { ...sizes, image: 10 }, true)).toBe('odd_1x1');
    expect(variant({}, { ...sizes, image: 10 }, true)).toBeUndefined();
  });

  test('strict caps refuse by name a quality or a size that alone has no price', () => {
    const sizes = priced({ image_low_1024x1024: 1, image_high_1024x1024: 9 });
    const ask = (fields: Partial<ImageRequest>) => () => boundImages({ ...image, ...fields }, sizes, true);
    expect(ask({ quality: 'odd', size: '1024x1024' })).toThrow('quality "odd"');
    expect(ask({ quality: 'low', size: '1x1' })).toThrow('size "1x1"');
    expect(ask({ quality: 'low', size: 'auto' })).not.toThrow();
  });

  test('under strict caps is that of the price book', () => {
    expect(() => boundImages(image, priced(TOKENS), true)).toThrow('max_output_tokens');
    const bounded = priced(TOKENS, { maxOutputTokens: 50_000 });
    expect(boundImages(image, bounded, true)).toMatchObject({ outputImageTokens: 50_000, inputTokens: 9 });
    const pictures = [{ name: 'p', type: 'image/png', pieces: [] }];
    expect(() => boundImages({ ...image, pictures }, bounded, true)).toThrow('a picture to edit');
  });
});

describe('the bound of a ranking', () => {
  const rank = (documents: string[], query = 'q') =>
    ({ model: 'm', stream: false, query, documents, extra: {} }) as const;

  test('counts a search for each hundred documents, and long ones more than once', () => {
    const searches = (documents: string[]) => boundRerank(rank(documents), { search: 1 }, false).units?.searches;
    expect(searches(Array(100).fill('d'))).toBe(1);
    expect(searches(Array(101).fill('d'))).toBe(2);
    // 499 tokens are left beside the query.
    expect(searches(Array(50).fill('x'.repeat(3 * 499)))).toBe(1);
    expect(searches(Array(51).fill('x'.repeat(3 * 500)))).toBe(2);
  });

  test('counts tokens of each pair, one for each byte under strict caps', () => {
    expect(boundRerank(rank(['aaaaaa', 'bbb']), { input: 1 }, false).inputTokens).toBe(2 + 1 + 2 * (1 + 4));
    expect(boundRerank(rank(['aaaaaa', 'bbb']), { input: 1 }, true).inputTokens).toBe(6 + 3 + 2 * (1 + 4));
  });

  test('a ranking is by score', () => {
    expect(rankDocuments([0.1, 0.9, 0.5], 2)).toEqual([
      { index: 1, score: 0.9 },
      { index: 2, score: 0.5 },
    ]);
  });
});

describe('the bound of decisions', () => {
  const request = (input: never) =>
    ({ model: 'm', stream: false, input, questions: [{ type: 'predicate' }], extra: {} }) as const;
  const picture = [
    { role: 'user', content: [{ type: 'input_image', image_url: `data:image/png;base64,${'A'.repeat(9000)}` }] },
  ];

  test('counts a picture as one, however large, and refuses it under strict caps', () => {
    const { inputTokens, outputTokens } = boundDecision(
      request(picture as never),
      priced({ input: 1, output: 1 }),
      false,
    );
    expect([inputTokens > 1500, inputTokens < 1600, outputTokens]).toEqual([true, true, 200]);
    const bounded = priced({ input: 1, output: 1 }, { maxOutputTokens: 4096 });
    expect(() => boundDecision(request(picture as never), bounded, true)).toThrow('a picture');
    expect(boundDecision(request('text' as never), bounded, true).outputTokens).toBe(4096);
    expect(() => boundDecision(request('text' as never), priced({}), true)).toThrow('max_output_tokens');
  });
});
