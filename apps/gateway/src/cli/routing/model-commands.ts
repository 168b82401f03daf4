import { type Command, type CommandOption, PAGE } from '../command';
import { amount, column } from '../format-table';

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
      'reasoning-usd-per-million': price('reasoning'),
      'context-window': { kind: 'number', help: 'longest prompt and answer together, in tokens' },
      'max-output-tokens': { kind: 'number', help: 'longest answer, in tokens' },
      mode: { kind: 'text', help: 'chat, responses, embedding or completion' },
    },
    run: ({ api, args, fields }) => api.put('/models', fields, { provider: args.provider, model: args.model }),
  },
  {
    name: 'models delete',
    summary: 'Delete a price; the model is unpriced from now on',
    args: ['provider', 'model'],
    run: ({ api, args }) => api.delete('/models', { provider: args.provider, model: args.model }),
    note: (_, { args }) => `${args.provider}/${args.model} has no price now`,
  },
];
