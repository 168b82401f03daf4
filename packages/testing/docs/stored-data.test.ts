// The statements of docs/operate/stored-data.md erase one customer, and nobody else.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { storeLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { sampleRecord } from '../stores/sample-record';
import { TEST_DATABASES, type TestDatabase } from '../stores/test-databases';
import { ROOT } from './read-pages';
import { codeBlocks } from './shell-commands';

const PAGE = readFileSync(join(ROOT, 'docs/operate/stored-data.md'), 'utf8');
const STATEMENTS = codeBlocks(PAGE)
  .filter(({ language, code }) => language === 'sql' && code.includes('<customer>'))
  .map(({ code }) => code);

const hashOf = (text: string) => Bun.CryptoHasher.hash('sha256', text, 'hex');

describe.each(TEST_DATABASES)('erasing a customer on $name', (kind) => {
  let database: TestDatabase;
  const [projectId, apiKeyId, serverId] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
  beforeAll(async () => {
    database = await kind.open();
    const { client } = database;
    await client`insert into projects (id, name) values (${projectId}, ${projectId})`;
    await client`insert into api_keys (id, project_id, name, key_hash, key_prefix)
      values (${apiKeyId}, ${projectId}, 'web', ${hashOf(apiKeyId)}, 'llm0_live_abcd')`;
    await client`insert into mcp_servers (id, alias, transport) values (${serverId}, ${serverId.slice(0, 20)}, 'http')`;
    for (const customerId of ['ann', 'bob']) await addCustomer(customerId);
  }, 60_000);
  afterAll(() => database.close());

  async function addCustomer(customerId: string): Promise<void> {
    const { client, db } = database;
    const record = sampleRecord({ projectId, apiKeyId, customerId, errorMessage: customerId });
    await storeLogRecords(db, [JSON.stringify(record)]);
    const call = crypto.randomUUID();
    await client`insert into tool_calls (id, created_at, project_id, api_key_id, customer_id, request_id, run_id, server_id,
        server, tool, status, is_error, latency_ms, bytes_in, bytes_out, cost_usd)
      values (${call}, now(), ${projectId}, ${apiKeyId}, ${customerId}, ${crypto.randomUUID()}, 'r', ${serverId},
        'docs', 'search', 'success', false, 1, 1, 1, 0)`;
    const [{ id: request } = { id: '' }] = await client<{ id: string }[]>`
      select request_id as id from gateway_logs where project_id = ${projectId} and customer_id = ${customerId}`;
    for (const id of [request, call])
      await client`insert into gateway_log_bodies (request_id, project_id, created_at, request_body)
        values (${id}, ${projectId}, now(), '{}')`;
    await client`insert into kept_answers (id, project_id, api_key_id, customer_id, input, answer, item_ids, created_at, expires_at)
      values (${crypto.randomUUID()}, ${projectId}, ${apiKeyId}, ${customerId}, '[]', '{}', '{}', now(), now() + interval '1 day')`;
    await client`insert into mcp_grants (server_id, api_key_id, customer_id, issuer, encrypted_tokens, encryption_key_id)
      values (${serverId}, ${apiKeyId}, ${customerId}, 'https://i', '', 'k')`;
    await client`insert into mcp_consents (server_id, api_key_id, customer_id, ticket_hash, expires_at)
      values (${serverId}, ${apiKeyId}, ${customerId}, ${crypto.randomUUID()}, now() + interval '1 day')`;
    await client`insert into semantic_matches (project_id, request_id, outcome, similarity, threshold, cache_key,
        matched_key, question_hash, matched_hash, prompt, matched_prompt)
      values (${projectId}, ${request}, 'served', 1, 1, 'a', 'b', 'c', 'd', ${customerId}, 'other')`;
    await client`insert into semantic_rejections (project_id, cache_key, question_hash, prompt, matched_prompt, guard)
      values (${projectId}, ${customerId}, ${customerId}, ${customerId}, 'other', 'operator')`;
    await client`insert into idempotency_keys (api_key_id, key_hash, body_hash, state, owner, lease_until, answer, expires_at)
      values (${apiKeyId}, ${hashOf(customerId)}, ${hashOf('h')}, 'done', ${crypto.randomUUID()}, now(), '{}', now() + interval '1 day')`;
    await client`insert into admin_audit (actor, action, resource, resource_id, after)
      values ('a', 'update', 'customer_limits', ${`${projectId}/${customerId}`}, '{}')`;
  }

  /** Rows that still tell something about the customer. */
  async function countRows(customerId: string): Promise<Record<string, number>> {
    const { client } = database;
    const count = async (rows: Promise<readonly unknown[]>) => (await rows).length;
    const isTheirs = client`project_id = ${projectId} and customer_id = ${customerId}`;
    return {
      rows: await count(client`select 1 from gateway_logs where ${isTheirs}`),
      calls: await count(client`select 1 from tool_calls where ${isTheirs}`),
      spend: await count(client`select 1 from customer_spend where ${isTheirs}`),
      bodies: await count(client`select 1 from gateway_log_bodies where request_id in (
        select request_id from gateway_logs where ${isTheirs} union select id from tool_calls where ${isTheirs})`),
      answers: await count(client`select 1 from kept_answers where ${isTheirs}`),
      grants: await count(
        client`select 1 from mcp_grants where api_key_id = ${apiKeyId} and customer_id = ${customerId}`,
      ),
      consents: await count(client`select 1 from mcp_consents
        where api_key_id = ${apiKeyId} and customer_id = ${customerId}`),
      texts:
        await count(client`select prompt from semantic_matches where project_id = ${projectId} and prompt = ${customerId}
        union all select prompt from semantic_rejections where project_id = ${projectId} and prompt = ${customerId}`),
      errors: await count(
        client`select 1 from gateway_logs where project_id = ${projectId} and error_message = ${customerId}`,
      ),
      replays: await count(client`select 1 from idempotency_keys where api_key_id = ${apiKeyId}`),
      audit: await count(client`select 1 from admin_audit where resource_id = ${`${projectId}/${customerId}`}`),
    };
  }

  test('the documented statements leave the sums and the other customers', async () => {
    const before = await countRows('ann');
    expect(Object.values(before).every((rows) => rows > 0)).toBe(true);
    expect([STATEMENTS.length, before.bodies]).toEqual([2, 2]);
    const session = await database.client.reserve();
    for (const statements of STATEMENTS) {
      await session.unsafe(
        statements
          .replaceAll('<project>', projectId)
          .replaceAll('<customer>', 'ann')
          .replaceAll('<pseudonym>', 'erased-1'),
      );
    }
    session.release();
    expect([...new Set(Object.values(await countRows('ann')))]).toEqual([0]);
    expect(await countRows('erased-1')).toMatchObject({ rows: 1, calls: 1, spend: 1, bodies: 0, answers: 0 });
    // Texts and replays name no customer: they go for the whole project.
    expect(await countRows('bob')).toEqual({ ...before, texts: 0, replays: 0 });
  });
});
