import type { JsonObject } from '@llm0/core/chat/json';
import { MODES } from '@llm0/core/pricing/price-book';
import { type Command, type CommandOption, PAGE } from '../command';
import { amount, column } from '../format-table';

const unit = (name: string): CommandOption => ({ kind: 'usd', help: `USD per ${name}` });
const price = (name: string): CommandOption => ({ kind: 'usd', help: `USD per million ${name} tokens` });

export const MODEL_COMMANDS: readonly Command[] = [
  {
    name: 'models list',
    summary: 'List priced models; prices in USD per million tokens',
    options: {
      provider: { kind: 'text', help: 'only this provider' },
      model: { kind: 'text', help: 'only this exact name' },
      q: { kind: 'text', help: 'part of provider/model' },
      ...PAGE,
    },
    run: ({ api, fields }) => api.get('/models', fields),
    columns: [
      column('provider'),
      column('model'),
      amount('input_usd_per_million', 'input'),
      amount('output_usd_per_million', 'output'),
      amount('cache_read_usd_per_million', 'cache read'),
      amount('context_window', 'context'),
      column('edited'),
    ],
  },
  {
    name: 'models get',
    summary: 'Show a model with its price',
    args: ['provider', 'model'],
    run: ({ api, args: { provider = '', model = '' } }) =>
      api.get(`/models/${encodeURIComponent(provider)}/${encodeURIComponent(model)}`),
  },
  {
    name: 'models set',
    summary: "Replace a model's prices; applies at once",
    args: ['provider', 'model'],
    options: {
      'input-usd-per-million': price('input'),
      'output-usd-per-million': price('output'),
      'cache-read-usd-per-million': price('cached input'),
      'cache-write-usd-per-million': price('cache write'),
      'cache-write-1h-usd-per-million': price('cache write for an hour'),
      'reasoning-usd-per-million': price('reasoning'),
      'context-window': { kind: 'number', help: 'longest prompt and answer together, in tokens' },
      'max-output-tokens': { kind: 'number', help: 'longest answer, in tokens' },
      'input-image-usd-per-million': price('input image'),
      'cache-read-image-usd-per-million': price('cached image'),
      'output-image-usd-per-million': price('output image'),
      'input-audio-usd-per-million': price('input audio'),
      'cache-read-audio-usd-per-million': price('cached audio'),
      'output-audio-usd-per-million': price('output audio'),
      'character-usd-per-million': { kind: 'usd', help: 'USD per million characters' },
      'image-usd': unit('image'),
      'image-sizes': { kind: 'json', help: 'prices of single sizes: [{"quality", "size", "image_usd"}, …]' },
      'second-usd': unit('second of audio'),
      'minute-usd': unit('minute of audio'),
      'page-usd': unit('page'),
      'search-usd': unit('search'),
      'session-second-usd': unit('second of a session'),
      'batch-discount': { kind: 'number', help: 'share that batches take off, such as 0.5' },
      capabilities: { kind: 'list', help: 'such as vision,function_calling' },
      mode: { kind: 'text', help: MODES.join(', ') },
      prices: {
        kind: 'json',
        help: 'prices of tiers and long contexts by field, such as {"input_flex_usd_per_million": 1}',
      },
    },
    run: ({ api, args, fields: { prices, ...fields } }) =>
      api.put(
        '/models',
        { ...(prices as JsonObject | undefined), ...fields },
        { provider: args.provider, model: args.model },
      ),
  },
  {
    name: 'models delete',
    summary: 'Delete a price; the model is unpriced from now on',
    args: ['provider', 'model'],
    run: ({ api, args }) => api.delete('/models', { provider: args.provider, model: args.model }),
    note: (_, { args }) => `${args.provider}/${args.model} has no price now`,
  },
];
