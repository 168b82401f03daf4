import type { Command } from './command';

export const DEMO_COMMANDS: readonly Command[] = [
  {
    name: 'demo-data',
    summary: 'Create sample projects with a fortnight of traffic',
    options: {
      days: { kind: 'number', help: 'days before now (14)' },
      'requests-a-day': { kind: 'number', help: 'approximate number (450)' },
    },
    run: ({ api, fields }) => api.post('/demo-data', fields),
    note: () => 'the rows appear within a few seconds',
  },
];
