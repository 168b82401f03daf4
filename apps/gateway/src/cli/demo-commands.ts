import { type Command, EXIT } from './command';

export const DEMO_COMMANDS: readonly Command[] = [
  {
    noun: 'demo-data',
    verb: '',
    summary: 'Make up projects and a fortnight of their traffic, to look around in',
    args: [],
    options: {
      days: { kind: 'number', help: 'how many back from now (14)' },
      'requests-a-day': { kind: 'number', help: 'about so many (450)' },
    },
    run: async ({ api, fields, output }) => {
      const { text, body } = await api.post('/demo-data', fields);
      output.item(text, body);
      output.note('the rows are there within a few seconds');
      return EXIT.ok;
    },
  },
];
