import type { Command } from './command';

export const DEMO_COMMANDS: readonly Command[] = [
  {
    name: 'demo-data',
    summary: 'Make up projects and a fortnight of their traffic, to look around in',
    options: {
      days: { kind: 'number', help: 'how many back from now (14)' },
      'requests-a-day': { kind: 'number', help: 'about so many (450)' },
    },
    run: ({ api, fields }) => api.post('/demo-data', fields),
    note: () => 'the rows are there within a few seconds',
  },
];
