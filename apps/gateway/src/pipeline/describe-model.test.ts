import { describe, expect, test } from 'bun:test';
import type { PricedModel } from '@llm0/core/pricing/price-book';
import { describeModel, filterModels } from './describe-model';

const priced = (more: Partial<PricedModel>): PricedModel => ({
  ...{ provider: 'p', model: 'm', mode: 'chat', prices: {}, capabilities: [] },
  ...more,
});
const card = (id: string, more: Partial<PricedModel>) => ({
  ...{ id, object: 'model' as const, created: 0, owned_by: 'p' },
  ...describeModel(priced(more)),
});

describe('a model says', () => {
  test.each<[string, Partial<PricedModel>, readonly string[], readonly string[]]>([
    ['text alone', {}, ['text'], ['text']],
    [
      'what it sees, hears and reads',
      { capabilities: ['vision', 'audio_input', 'pdf_input'] },
      ['text', 'image', 'audio', 'file'],
      ['text'],
    ],
    [
      'what it draws and speaks',
      { prices: { output_image: 1, output_audio: 1 } },
      ['text'],
      ['text', 'image', 'audio'],
    ],
    [
      'that it draws from drawings',
      { mode: 'image', prices: { input_image: 1, output_image: 1 } },
      ['text', 'image'],
      ['image'],
    ],
    ['that it writes down', { mode: 'transcription', prices: { minute: 1, input_audio: 1 } }, ['audio'], ['text']],
    ['that it reads out', { mode: 'speech', prices: { character: 1 } }, ['text'], ['audio']],
  ])('%s', (_name, more, input, output) => {
    expect(describeModel(priced(more))).toMatchObject({ input_modalities: input, output_modalities: output });
  });

  test('its prices in the names of the admin API, and when it retires', () => {
    const prices = { input: 2_500_000, minute: 6_000_000_000, image_high_1024x1024: 4e10, batch_discount: 500_000 };
    expect(describeModel(priced({ prices, deprecationDate: '2027-01-31' }))).toMatchObject({
      retires_at: '2027-01-31',
      pricing: { input_usd_per_million: 2.5, minute_usd: 0.006, image_high_1024x1024_usd: 0.04, batch_discount: 0.5 },
    });
  });
});

test('models are filtered by all that is asked', () => {
  const models = [
    card('sees', { capabilities: ['vision', 'reasoning'], contextWindow: 200_000 }),
    card('small', { capabilities: ['vision'], contextWindow: 8000 }),
    card('hears', { mode: 'transcription' }),
  ];
  const found = (query: string) =>
    filterModels(models, new URLSearchParams(query), ['limit', 'after_id']).map(({ id }) => id);
  expect(() => found('modality=image')).toThrow('There is no filter "modality". Use mode, provider, capability,');
  expect(found('limit=1&after_id=x')).toEqual(['sees', 'small', 'hears']);
  expect(found('capability=vision')).toEqual(['sees', 'small']);
  expect(found('capability=vision&capability=reasoning')).toEqual(['sees']);
  expect(found('input_modality=image&min_context=10000')).toEqual(['sees']);
  expect(found('mode=transcription&output_modality=text&provider=p')).toEqual(['hears']);
  expect(found('provider=q')).toEqual([]);
  expect(() => found('mode=zzz')).toThrow('"mode" must be one of chat, responses, embedding,');
  expect(() => found('input_modality=video')).toThrow('"input_modality" must be one of text, image, audio, file.');
  expect(() => found('output_modality=smell')).toThrow('"output_modality" must be one of text, image,');
  expect(() => found('min_context=many')).toThrow('"min_context" must be a whole number');
});
