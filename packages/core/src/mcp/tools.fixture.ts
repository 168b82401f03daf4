import type { HostedTool } from './tool-host';

const SERVERS = [
  ['github', 'issue', 'pull request'],
  ['files', 'file', 'folder'],
  ['slack', 'message', 'channel'],
  ['calendar', 'event', 'meeting'],
  ['billing', 'invoice', 'refund'],
  ['crm', 'customer', 'deal'],
  ['support', 'ticket', 'contact'],
  ['wiki', 'page', 'document'],
  ['sheets', 'spreadsheet', 'chart'],
  ['grafana', 'dashboard', 'alert'],
] as const;
const VERBS = [
  ['create', 'Creates a new %s. Fields that are not given have the usual values of the account'],
  ['get', 'Returns one %s with all its fields, links to what belongs to it, and who changed it last'],
  ['list', 'Lists every %s that the caller may see, newest first, a page at a time'],
  ['search', 'Searches each %s by words, by who made it and by when it was changed, the most fitting first'],
  ['update', 'Changes the given fields of the %s and leaves all others as they are'],
  ['delete', 'Deletes the %s for good. There is no way back, so ask the user before you call it'],
  ['archive', 'Puts the %s away: it is found by search, and no list shows it any more'],
  ['comment_on', 'Writes a comment under the %s in Markdown; those who follow it get a message'],
  ['assign', 'Gives the %s to somebody, who is told so by mail if they want to be told'],
  ['export', 'Writes the %s into a file of the format that is asked for and returns where that file is'],
] as const;

const text = (description: string) => ({ type: 'string', description });

/** 200 tools of ten servers, with schemas such as real ones have: some 300 tokens each. */
export const TWO_HUNDRED_TOOLS: readonly HostedTool[] = SERVERS.flatMap(([server, ...nouns]) =>
  nouns.flatMap((noun) =>
    VERBS.map(([verb, description]) => ({
      server,
      name: `${verb}_${noun.replace(' ', '_')}`,
      description: `${description.replace('%s', noun)}.`,
      inputSchema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: {
          owner: text(`The account or organisation that the ${noun} belongs to, as it stands in its address`),
          id: { type: 'integer', minimum: 1, description: `Number of the ${noun}, as lists and searches return it` },
          title: { ...text(`What the ${noun} is called; one line without formatting`), minLength: 1, maxLength: 256 },
          state: {
            type: 'string',
            enum: ['open', 'closed', 'all'],
            default: 'open',
            description: 'Which of them are wanted',
          },
          labels: {
            type: 'array',
            items: { type: 'string' },
            maxItems: 20,
            description: `Names of labels; a ${noun} must have every one of them`,
          },
          since: { ...text('Only what was changed at this time or later, in ISO 8601'), format: 'date-time' },
          page: { type: 'integer', minimum: 1, default: 1, description: 'Which page of the result, the first being 1' },
          per_page: { type: 'integer', minimum: 1, maximum: 100, default: 30, description: 'How many a page has' },
        },
        required: ['owner', 'id'],
        additionalProperties: false,
      },
    })),
  ),
);
