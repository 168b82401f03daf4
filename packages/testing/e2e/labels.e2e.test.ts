// What an operator says of keys and projects is among the labels of their requests, and costs are added up by it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { ask, logRow, ON_ONE_KIND, postChat, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;

interface Statement {
  readonly attribution: string;
  readonly rows: readonly { readonly group: string; readonly requests: number; readonly cost_usd: number }[];
  readonly total: { readonly cost_usd: number };
}

describe.each(ON_ONE_KIND)('labels on %s stores', (kind) => {
  let world: TestEnvironment;
  beforeAll(async () => {
    world = await shareEnvironment({ kind });
  }, SETUP_MS);
  afterAll(() => world?.close(), SETUP_MS);

  test("of the key override the project's, and both override the caller's, from the next request", async () => {
    const { gateway } = world;
    const made = await createTestKey(gateway, {
      project: { labels: { team: 'web', env: 'prod' }, cache_enabled: false },
      key: { labels: { team: 'ads' } },
    });
    const post = async () => {
      const headers = { 'X-LLM0-Team': 'mine', 'X-LLM0-Feature': 'chat' };
      const response = await postChat(gateway, made.apiKey, ask(crypto.randomUUID()), { headers });
      await response.text();
      return logRow(gateway, response.headers.get('x-request-id') ?? '');
    };
    const first = await post();
    expect(first.labels).toEqual({ team: 'ads', env: 'prod', feature: 'chat' });
    const keyPath = `/projects/${made.projectId}/keys/${made.keyId}`;
    await callAdmin(gateway, keyPath, { method: 'PATCH', body: { labels: null } });
    const second = await post();
    expect(second.labels).toEqual({ team: 'web', env: 'prod', feature: 'chat' });

    const found = await callAdmin<{ data: { request_id: string }[] }>(gateway, '/logs?label.team=ads');
    expect(found.data.map(({ request_id: id }) => id)).toEqual([first.request_id]);
    const of = `project_id=${made.projectId}`;
    const statement = await callAdmin<Statement>(gateway, `/finance/statement?${of}&by=label.team`);
    // Each request stays with the team that it was of when it was made.
    expect(statement.attribution).toBe('request');
    expect(new Map(statement.rows.map(({ group, cost_usd: cost }) => [group, cost]))).toEqual(
      new Map([
        ['ads', first.cost_usd],
        ['web', second.cost_usd],
      ]),
    );
    const narrowed = await callAdmin<Statement>(gateway, `/finance/statement?${of}&by=label.feature&label.env=prod`);
    expect(narrowed.rows).toMatchObject([{ group: 'chat', requests: 2, cost_usd: statement.total.cost_usd }]);
  });
});
