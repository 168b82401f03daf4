import { type Command, type CommandOption, PAGE, PROJECT } from './command';
import { column } from './format-table';

const kind: CommandOption = { kind: 'text', help: 'deploy, incident or note' };

export const ANNOTATION_COMMANDS: readonly Command[] = [
  {
    name: 'annotations add',
    summary: 'Mark a deploy, an incident or a note in charts',
    args: ['text'],
    options: {
      kind: { ...kind, help: `${kind.help} (note)` },
      at: { kind: 'text', help: 'time of the event, RFC 3339 (now)' },
      project: { kind: 'project', help: 'mark only charts of this project (id or name)' },
    },
    run: ({ api, args, fields }) => api.post('/annotations', { ...fields, text: args.text ?? '' }),
  },
  {
    name: 'annotations list',
    summary: 'List annotations, newest first',
    options: {
      from: { kind: 'text', help: 'only from this time, RFC 3339 or a UTC day' },
      to: { kind: 'text', help: 'only before this time' },
      kind: { ...kind, help: `only this kind: ${kind.help}` },
      project: PROJECT,
      ...PAGE,
    },
    run: ({ api, fields }) => api.get('/annotations', fields),
    columns: [column('id'), column('at'), column('kind'), column('text'), column('actor', { title: 'by' })],
  },
  {
    name: 'annotations remove',
    summary: 'Delete an annotation',
    args: ['id'],
    run: ({ api, args }) => api.delete(`/annotations/${encodeURIComponent(args.id ?? '')}`),
    note: (_, { args }) => `deleted ${args.id}`,
  },
];
