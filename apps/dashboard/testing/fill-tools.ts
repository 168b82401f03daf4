import { type McpServerUnderTest, startMcpServer, textTool } from '@llm0/testing/fake-upstream/start-mcp-server';
import { callAdmin } from '@llm0/testing/stores/start-gateway';

export interface Gateway {
  readonly url: string;
  readonly adminToken: string;
}

const reads = { annotations: { readOnlyHint: true } };
const DOCS = [
  { ...textTool('search', 'Finds pages of the handbook by words.'), ...reads },
  { ...textTool('fetch', 'Reads one page.'), ...reads },
  { ...textTool('delete_page', 'Deletes a page with its history.'), annotations: { destructiveHint: true } },
  {
    ...reads,
    name: 'list_pages',
    description: 'Lists pages, newest first.',
    inputSchema: {
      type: 'object',
      required: ['space'],
      properties: {
        space: { type: 'string', description: 'The space whose pages are listed' },
        order: { enum: ['newest', 'oldest'] },
        limit: { type: 'integer' },
      },
    },
  },
];
const TICKETS = [
  textTool('create_ticket', 'Opens a ticket for the team that is on call.'),
  textTool('list_tickets', 'Lists open tickets.'),
];
const RUNS = 6;

/** Three servers behind the gateway, one of which changed a tool and one of which is down, and runs of an agent that used them. */
export async function fillTools(
  gateway: Gateway,
  { apiKey, more = [] }: { readonly apiKey: string; readonly more?: readonly object[] },
): Promise<{ stop(): Promise<void> }> {
  const docs = startMcpServer([...DOCS, ...more]);
  const tickets = startMcpServer(TICKETS);
  const add = async (alias: string, body: object) =>
    (await callAdmin<{ id: string }>(gateway, '/mcp/servers', { body: { approve: 'all', alias, ...body } })).id;
  const docsId = await add('docs', { url: docs.url, price_per_call_usd: 0.002 });
  const ticketsId = await add('tickets', { url: tickets.url, price_per_call_usd: 0.01 });
  await add('crm', { url: tickets.url, auth: { type: 'oauth_user', client_id: 'gateway', client_secret: 'secret' } });
  await callRuns(gateway, apiKey);
  const [first, ...rest] = DOCS;
  docs.tools = [
    { ...first, description: 'Finds pages of the handbook and of every attached drive.' },
    ...rest,
    ...more,
  ];
  tickets.failWith = 503;
  for (const id of [docsId, ticketsId]) await callAdmin(gateway, `/mcp/servers/${id}/refresh`, { method: 'POST' });
  return { stop: () => stopAll([docs, tickets]) };
}

const stopAll = async (servers: readonly McpServerUnderTest[]) => {
  await Promise.all(servers.map((server) => server.stop()));
};

async function callRuns(gateway: Gateway, apiKey: string): Promise<void> {
  for (let run = 1; run <= RUNS; run++) {
    const runId = `nightly-triage-${run}`;
    const call = (name: string, text: string) =>
      fetch(`${gateway.url}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${apiKey}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'x-llm0-run-id': runId,
        },
        body: JSON.stringify({
          ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
          params: { name, arguments: { text } },
        }),
      }).then((answer) => answer.text());
    await call('docs__search', `refund policy, part ${run}`);
    await call('docs__fetch', `page ${run}`);
    await call('tickets__create_ticket', `Refund ${run} is stuck`);
  }
}
