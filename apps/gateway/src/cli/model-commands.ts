import { type Command, type CommandOption, EXIT } from './command';
import { amount, column } from './format-table';
import { dataOf } from './read-list';

const price = (name: string): CommandOption => ({ kind: 'usd', help: `USD per million ${name} tokens` });

export const MODEL_COMMANDS: readonly Command[] = [
  {
    noun: 'models',
    verb: 'list',
    summary: 'List priced models; prices in USD per million tokens',
    args: [],
    options: {
      provider: { kind: 'text', help: 'of this provider only' },
      model: { kind: 'text', help: 'of exactly this name' },
      q: { kind: 'text', help: 'part of provider/model' },
      limit: { kind: 'number', help: 'how many (50)' },
      cursor: { kind: 'text', help: 'next_cursor of the page before' },
    },
    run: async ({ api, fields, output }) => {
      const { text, body } = await api.get('/models', fields);
      output.list(text, dataOf(body), [
        column('provider'),
        column('model'),
        amount('input_usd_per_million', 'input'),
        amount('output_usd_per_million', 'output'),
        amount('cache_read_usd_per_million', 'cache read'),
        amount('context_window', 'context'),
        column('edited'),
      ]);
      return EXIT.ok;
    },
  },
  {
    noun: 'models',
    verb: 'set',
    summary: "Set a model's prices as a whole; live at once",
    args: ['provider', 'model'],
    options: {
      'input-usd-per-million': price('input'),
      'output-usd-per-million': price('output'),
      'cache-read-usd-per-million': price('cached input'),
      'cache-write-usd-per-million': price('cache write'),
      'reasoning-usd-per-million': price('reasoning'),
      'context-window': { kind: 'number', help: 'tokens' },
      'max-output-tokens': { kind: 'number', help: 'tokens' },
      mode: { kind: 'text', help: 'chat, responses, embedding or completion' },
    },
    run: async ({ api, args, fields, output }) => {
      const { text, body } = await api.put('/models', fields, { provider: args.provider, model: args.model });
      output.item(text, body);
      return EXIT.ok;
    },
  },
];
