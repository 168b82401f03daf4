import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startHttpBackend } from '@llm0/testing/fake-upstream/start-http-backend';
import { startMcpServer, textTool } from '@llm0/testing/fake-upstream/start-mcp-server';
import { sampleCall } from '@llm0/testing/stores/sample-call';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, ENV_TOKEN, openAdmin, storeRecords } from '../admin/admin.fixture';
import { runCommand } from './run-command';

const [database] = ON_ONE_DATABASE;
if (database === undefined) throw new Error('no database to test on');

describe('llm0 on the command line', () => {
  let admin: AdminUnderTest;
  beforeAll(async () => {
    admin = await openAdmin(database);
  }, 60_000);
  afterAll(() => admin.close());

  const adminFetch = ((input: string, init?: RequestInit) => {
    const url = new URL(input);
    if (url.host !== 'gateway.test') throw new Error('Unable to connect');
    return admin.request(url.pathname.replace(/^\/admin/, '') + url.search, init);
  }) as unknown as typeof fetch;

  interface RunOptions {
    readonly env?: Readonly<Record<string, string>>;
    readonly signal?: AbortSignal;
    /** Typed where a question is asked; absent = nobody is there. */
    readonly answer?: string;
    readonly onOut?: (text: string) => void;
  }
  async function run(line: string | readonly string[], options: RunOptions = {}) {
    const out: string[] = [];
    const err: string[] = [];
    const code = await runCommand(typeof line === 'string' ? line.split(' ') : line, {
      env: options.env ?? { LLM0_URL: 'http://gateway.test/', ADMIN_TOKEN: ENV_TOKEN },
      version: '1.2.3',
      fetch: adminFetch,
      out: (text) => {
        out.push(text);
        options.onOut?.(text);
      },
      err: (text) => err.push(text),
      write: async (part) => {
        out.push(`${out.pop() ?? ''}${new TextDecoder().decode(part)}`);
      },
      ask: async (question) => {
        err.push(question);
        return options.answer;
      },
      signal: options.signal ?? new AbortController().signal,
    });
    return { code, out: out.join('\n'), err: err.join('\n') };
  }
  const json = async (line: string | readonly string[]) => {
    const { code, out, err } = await run(typeof line === 'string' ? `${line} --json` : [...line, '--json']);
    if (code !== 0) throw new Error(err);
    return JSON.parse(out);
  };
  const uniqueName = () => `cli-${crypto.randomUUID().slice(0, 8)}`;

  test('backends: create, set, test, list, delete; those of the environment are shown and stay', async () => {
    const service = startHttpBackend();
    try {
      const name = uniqueName();
      const made = await json(
        `backends create ${name} ${service.url} --price-per-request-usd 0.001 --cache-ttl-seconds 30`,
      );
      expect(made).toMatchObject({ name, url: service.url, cache: { enabled: true, ttl_seconds: 30 } });
      expect(await json(`backends set ${name} --cache false --cache-ttl-seconds none --retries 0`)).toMatchObject({
        ...{ retries: 0, cache: { enabled: false, ttl_seconds: null } },
      });
      expect((await run(`backends test ${name} --path /ready`)).code).toBe(0);
      expect(service.seen[0]?.target).toBe('/ready');
      service.answer = () => new Response('away', { status: 503 });
      expect((await run(`backends test ${name}`)).code).toBe(1);
      const { out } = await run('backends list');
      expect(out).toMatch(new RegExp(`^${name} .* no +true +stored`, 'm'));
      expect(out).toMatch(/^fixed .* yes +true +environment/m);
      expect((await run('backends set fixed --retries 2')).err).toContain('comes from the environment');
      expect((await run(`backends delete ${name}`)).code).toBe(0);
      expect((await run(`backends test ${name}`)).code).toBe(1);
    } finally {
      await service.stop();
    }
  });

  test('projects: create, list, update by name, delete', async () => {
    const name = uniqueName();
    const created = await run(`projects create ${name} --monthly-cap-usd 12.5 --no-cache-enabled`);
    expect(created.code).toBe(0);
    expect(created.out).toMatch(/^monthly_cap_usd +12\.5$/m);
    expect(created.out).toMatch(/^cache_enabled +false$/m);
    const listed = await run('projects list --limit 1');
    expect(listed.out.split('\n')[0]).toMatch(/^id +name +cap usd +strict +active +created$/);
    expect(listed.out.split('\n')[1]).toContain(`${name}     12.5  false`);
    const kept = await json(`projects update ${name} --cache-tool-calls --drop-params`);
    expect(kept).toMatchObject({ cache_tool_calls: true, drop_params: true });
    const updated = await json(`projects update ${name} --monthly-cap-usd none --strict-caps`);
    expect(updated).toMatchObject({ name, monthly_cap_usd: null, strict_caps: true, cache_enabled: false });
    expect((await run(`projects delete ${name} --yes`)).err).toContain(updated.id);
    expect(await run(`projects update ${name} --name x`)).toMatchObject({
      code: 1,
      err: `There is no project "${name}".`,
    });
  });

  test('projects delete asks first; --yes skips the question', async () => {
    const name = uniqueName();
    const { id } = await json(`projects create ${name}`);
    const question = `Delete project ${name} (${id})? Its keys stop working. [y/N] `;
    for (const answer of [undefined, '', 'n', 'yes please', name]) {
      const refused = await run(`projects delete ${name}`, { answer });
      expect([refused.code, refused.err.split('\n')[0]]).toEqual([1, question]);
      expect(refused.err).toContain('Nothing was deleted');
    }
    expect((await json('projects list')).data[0].id).toBe(id);
    expect(await run(`projects delete ${name}`, { answer: ' Y ' })).toMatchObject({ code: 0 });
    expect((await run(`projects delete ${name} --yes`)).err).toBe(`There is no project "${name}".`);
  });

  test('a conflict names the command that changes the object', async () => {
    const name = uniqueName();
    for (const [create, set] of [
      [`providers create ${name} --base-url http://127.0.0.1:9/v1`, `providers set ${name}`],
      [`backends create ${name} http://127.0.0.1:9`, `backends set ${name}`],
      [`mcp servers add ${name} --url http://127.0.0.1:9/mcp`, `mcp servers set ${name}`],
    ] as const) {
      await run(create);
      const again = await run(create);
      expect([again.code, again.err]).toEqual([
        1,
        expect.stringMatching(new RegExp(`^409 .*\\nTo change it: llm0 ${set} …$`)),
      ]);
    }
  });

  test('--version prints the version and nothing else', async () => {
    expect(await run('--version', { env: {} })).toEqual({ code: 0, out: '1.2.3', err: '' });
  });

  test('a name that two projects share is not guessed', async () => {
    const name = uniqueName();
    await json(`projects create ${name}`);
    await json(`projects create ${name}`);
    expect((await run(`projects delete ${name}`)).err).toContain('use the id');
  });

  test('keys: create, list, rotate, revoke', async () => {
    const name = uniqueName();
    const { id } = await json(`projects create --name ${name}`);
    const key = await json(
      `keys create ${name} ci --rate-limit-per-minute none --allowed-models a,b --budget-usd 0.000000001`,
    );
    expect(key).toMatchObject({ project_id: id, name: 'ci', rate_limit_per_minute: null, allowed_models: ['a', 'b'] });
    expect(key.key).toMatch(/^llm0_live_[0-9a-f]{64}$/);
    const people = await run(`keys create --project ${id} --name web`);
    expect(people.out).toMatch(/^key +llm0_live_[0-9a-f]{64}$/m);
    expect(people.err).toContain('shown only once');
    expect(people.err).toContain('Limit: 60 requests a minute. ');
    expect((await run(`keys create ${name} free --rate-limit-per-minute none`)).err).toContain('Limit: none.');
    const bursting = await run(`keys create ${name} burst --rate-limit-per-minute 9 --rate-limit-burst 3`);
    expect(bursting.err).toContain('Limit: 9 requests a minute, 3 at once. ');
    expect((await run(`keys list ${name}`)).out).toMatch(
      /ci +llm0_live_[0-9a-f]{6} +active +– +0\.000000001 +total +–/,
    );
    // Other files' secrets in this database have keys of their own.
    const { out } = await run('keys reencrypt --json');
    expect(JSON.parse(out)).toEqual({ reencrypted: 0, unreadable: expect.any(Number) });
    const rotated = await json(`keys rotate ${name} ${key.id}`);
    expect(rotated.id).toBe(key.id);
    expect(rotated.key).not.toBe(key.key);
    expect(rotated.previous_secret_expires_at).toBeNull();
    const graceful = await json(`keys rotate ${name} ${key.id} --grace-seconds 3600`);
    expect(Date.parse(graceful.previous_secret_expires_at)).toBeGreaterThan(Date.now());
    expect((await run(`keys revoke ${name} ${key.id}`)).code).toBe(0);
    expect((await run(`keys revoke ${name} ${key.id}`)).err).toStartWith('404 not_found: There is no such key.');
  });

  test('keys: update, get and revoke by their name', async () => {
    const name = uniqueName();
    await json(`projects create ${name}`);
    const key = await json(`keys create ${name} ci --budget-usd 5`);
    const updated = await json(`keys update ${name} ci --budget-usd none --rate-limit-per-minute 7`);
    expect(updated).toMatchObject({ id: key.id, budget_usd: null, rate_limit_per_minute: 7 });
    expect(await json(`keys get --project ${name} --key ci`)).toMatchObject({ id: key.id, rate_limit_per_minute: 7 });
    expect((await run(`keys revoke ${name} ci`)).code).toBe(0);
    expect(await run(`keys get ${name} nobody`)).toMatchObject({ code: 1, err: 'There is no key "nobody".' });
  });

  test('label-budgets: create, list, update and delete; budgets by day and week', async () => {
    const name = uniqueName();
    const project = await json(`projects create ${name} --daily-budget-usd 20`);
    expect(project).toMatchObject({ daily_budget_usd: 20, weekly_budget_usd: null });
    expect(await json(`keys create ${name} ci --weekly-budget-usd 5`)).toMatchObject({ weekly_budget_usd: 5 });
    const made = await json(`label-budgets create ${name} feature search --daily-usd 20`);
    expect(made).toMatchObject({ project_id: project.id, label: 'feature', value: 'search', daily_usd: 20 });
    expect((await run(`label-budgets list --project ${name}`)).out).toMatch(/feature +search +20 +– +–$/m);
    const updated = await json(`label-budgets update ${made.id} --daily-usd none --monthly-usd 0.5`);
    expect(updated).toMatchObject({ daily_usd: null, monthly_usd: 0.5 });
    expect((await run(`label-budgets delete ${made.id}`)).code).toBe(0);
  });

  test('organizations, teams and users: created, listed, changed and deleted by name', async () => {
    const name = uniqueName();
    const organization = await json(`organizations create ${name}`);
    const team = await json(`teams create ${name} --organization-id ${organization.id} --daily-budget-usd 2.5`);
    expect(team).toMatchObject({ organization_id: organization.id, daily_budget_usd: 2.5, monthly_cap_usd: null });
    expect((await run('teams list')).out).toMatch(new RegExp(`${name} +0 +0 +2.50? +– +–$`, 'm'));
    expect(await json(`teams update ${name} --daily-budget-usd none --monthly-cap-usd 20`)).toMatchObject({
      ...{ daily_budget_usd: null, monthly_cap_usd: 20 },
    });
    const user = await json(`users create ${name} ${name}@example.com`);
    expect(await json(`users update ${user.id} --weekly-budget-usd 7`)).toMatchObject({ weekly_budget_usd: 7 });
    for (const command of [`users delete ${name}`, `teams delete ${name}`, `organizations delete ${name}`])
      expect([command, (await run(command)).code]).toEqual([command, 0]);
  });

  test('mcp: servers are added with a secret, tested, changed, approved and removed by alias', async () => {
    const server = startMcpServer();
    const alias = uniqueName();
    const env = { LLM0_URL: 'http://gateway.test/', ADMIN_TOKEN: ENV_TOKEN, MCP_TOKEN: 'very-secret-token' };
    const added = await run(`mcp servers add ${alias} --url ${server.url} --price-per-call-usd 0.001 --approve all`, {
      env,
    });
    expect([added.code, added.err]).toEqual([0, expect.stringContaining('never shown again')]);
    expect(added.out).not.toContain('very-secret');
    expect(server.seen[0]?.headers.get('authorization')).toBe('Bearer very-secret-token');
    expect((await run('mcp servers list')).out).toMatch(new RegExp(`${alias} +http +${server.url} +ok +1 +0 +0\\.001`));
    server.tools = [textTool('echo', 'Other words.')];
    expect(await json(`mcp servers test ${alias}`)).toMatchObject({ ok: true, held_back: ['echo'] });
    expect((await run(`mcp tools list ${alias}`)).out).toMatch(/echo +changed +true +Other words\./);
    expect(await json(`mcp tools approve ${alias} echo`)).toMatchObject({ name: 'echo', state: 'approved' });
    expect(await json(`mcp servers set ${alias} --blocked-tools echo --timeout-ms 500`)).toMatchObject({
      timeout_ms: 500,
    });
    server.failWith = 503;
    expect((await run(`mcp servers test ${alias}`)).code).toBe(1);
    expect((await run(`mcp servers add two --url ${server.url} --token-header X-Key`)).code).toBe(2);
    expect((await run(`mcp servers remove ${alias}`)).code).toBe(0);
    expect(await run(`mcp servers test ${alias}`)).toMatchObject({
      code: 1,
      err: `There is no MCP server "${alias}".`,
    });
    await server.stop();
  });

  test('mcp calls: listed with filters, and added up by tool', async () => {
    const [project, alias] = [uniqueName(), uniqueName()];
    const { id: projectId } = await json(`projects create ${project}`);
    await storeRecords(admin, [
      sampleCall({ projectId, server: alias, costNanoUsd: 1_500_000, runId: 'run-7' }),
      sampleCall({ projectId, server: alias, tool: 'search', isError: true }),
    ]);
    const { out } = await run(`mcp calls --project ${project}`);
    expect(out.split('\n')[0]).toMatch(/^created_at +status +tool +failed +cost usd +ms +run_id +error_code +id$/);
    expect(out).toMatch(new RegExp(`success +${alias}__create_issue +no +0\\.0015 +13 +run-7`));
    expect((await json(`mcp calls --server ${alias} --is-error`)).data).toMatchObject([{ tool: 'search' }]);
    expect((await json(`mcp calls --server ${alias} --no-is-error --run-id run-7`)).data).toHaveLength(1);
    const stats = await run(`stats tools --server ${alias} --group-by tool --interval all`);
    expect(stats.out).toMatch(new RegExp(`${alias}__create_issue +1 +0 +0\\.0015`));
    expect((await run('mcp calls --status odd')).code).toBe(1);
  });

  test('annotations: added, listed by range, removed', async () => {
    const at = '2026-02-03T04:05:06.000Z';
    const made = await json(`annotations add web-1.2 --kind deploy --at ${at}`);
    expect(made).toMatchObject({ text: 'web-1.2', kind: 'deploy', at, project_id: null });
    const listed = (await run('annotations list --from 2026-02-03 --to 2026-02-04')).out;
    expect(listed).toMatch(new RegExp(`${made.id} +${at} +deploy +web-1\\.2`));
    expect((await run('annotations list --kind party')).code).toBe(1);
    expect((await run(`annotations remove ${made.id}`)).code).toBe(0);
    expect((await run(`annotations remove ${made.id}`)).code).toBe(1);
  });

  test('alerts and tokens: made, listed, changed, gone, by name', async () => {
    const [alert, token, project] = [uniqueName(), uniqueName(), uniqueName()];
    const { id } = await json(`projects create ${project}`);
    const made = await json(
      `alerts create ${alert} --kind spend --threshold 5 --project ${project} --webhook-url https://example.com/x`,
    );
    expect(made).toMatchObject({ name: alert, kind: 'spend', threshold: 5, project_id: id });
    const changed = await json(`alerts update ${alert} --no-is-active --project none --threshold 0.5`);
    expect(changed).toMatchObject({ id: made.id, is_active: false, project_id: null, threshold: 0.5 });
    expect((await run('alerts list')).out).toMatch(new RegExp(`${alert} +spend +0\\.5 +15 +– +false +false`));
    expect((await run(`alerts delete ${alert}`)).code).toBe(0);
    expect((await run(`alerts delete ${alert}`)).code).toBe(1);
    const secret = await json(`tokens create ${token} --role viewer`);
    expect(secret).toMatchObject({ name: token, role: 'viewer' });
    expect((await run('tokens list')).out).toMatch(new RegExp(`${token} +viewer +false +${secret.prefix}`));
    expect((await run(`tokens revoke ${token}`)).code).toBe(0);
    expect((await run('tokens list')).out).not.toContain(token);
    const reader = await json(`tokens create ${token} --role viewer --can-read-bodies`);
    expect(reader).toMatchObject({ role: 'viewer', can_read_bodies: true });
    const blind = await json(`tokens create ${token} --no-can-read-bodies`);
    expect(blind).toMatchObject({ role: 'admin', can_read_bodies: false });
    for (const { id } of [reader, blind]) expect((await run(`tokens revoke ${id}`)).code).toBe(0);
    await run('models set openai ft/a --input-usd-per-million 1 --output-usd-per-million 2');
    expect(await json('models get openai ft/a')).toMatchObject({ model: 'ft/a', output_usd_per_million: 2 });
    const unknown = await run('aliases set smart --targets opnai/gpt-4o');
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('There is no provider "opnai".')]);
  });

  test('a project is called --project everywhere, by id or name; --project-id is understood', async () => {
    const name = uniqueName();
    const { id } = await json(`projects create ${name}`);
    await storeRecords(admin, [sampleRecord({ projectId: id, costNanoUsd: 5 })]);
    for (const project of [`--project ${name}`, `--project ${id}`, `--project-id ${id}`]) {
      expect((await run(`stats ${project}`)).out).toMatch(/^cost_usd +0\.000000005$/m);
      expect((await run(`stats spend ${project}`)).out).toContain('0.000000005');
      expect((await run(`logs tail --no-follow ${project}`)).out).toContain('$0.000000005');
      expect((await run(`reconcile ${project}`)).out).toContain(id);
      expect(await json(`cache purge ${project}`)).toEqual({ exact: 0, semantic: 0 });
    }
    expect((await run('stats --project nobody')).err).toBe('There is no project "nobody".');
  });

  test('an alert is tried on the last week before it is made', async () => {
    const { id } = await json(`projects create ${uniqueName()}`);
    await storeRecords(admin, [sampleRecord({ projectId: id, costNanoUsd: 2e9, createdAtMs: Date.now() - 3_600_000 })]);
    const preview = async (threshold: number) =>
      json(`alerts preview --kind spend --threshold ${threshold} --window-minutes 30 --project ${id}`);
    const fired = await preview(1.5);
    expect(fired).toMatchObject({ fired: 1, highest: 2 });
    expect(Date.parse(fired.firings[0].to) - Date.parse(fired.firings[0].from)).toBe(30 * 60_000);
    expect(await preview(2.5)).toMatchObject({ fired: 0, firings: [], highest: 2 });
    expect((await run('alerts preview --kind nothing')).err).toContain('kind: ');
    expect((await run(`alerts preview --kind spend --project ${crypto.randomUUID()}`)).code).toBe(1);
  });

  test('limits: what is not given stays', async () => {
    const { id } = await json(`projects create ${uniqueName()}`);
    const customer = 'team/ann & co';
    await json([
      'limits',
      'set',
      id,
      customer,
      '--daily-spend-limit-usd',
      '5',
      '--model-limits',
      '{"m":{"requests_per_day":2}}',
    ]);
    const second = await json([
      'limits',
      'set',
      id,
      customer,
      '--requests-per-minute',
      '7',
      '--on-limit-behavior',
      'warn',
    ]);
    expect(second).toMatchObject({
      customer_id: customer,
      daily_spend_limit_usd: 5,
      requests_per_minute: 7,
      on_limit_behavior: 'warn',
      model_limits: { m: { requests_per_day: 2 } },
    });
    await json(['limits', 'set', id, customer, '--daily-spend-limit-usd', 'none']);
    expect((await run(['limits', 'get', id, customer])).out).toMatch(/^daily_spend_limit_usd +–$/m);
    const listed = await run(['limits', 'list', '--project', id]);
    expect(listed.out.split('\n')[0]).toMatch(/^customer +project +today +a day +this month +a month$/);
    expect(listed.out).toContain(customer);
    expect((await run(['limits', 'delete', id, customer])).code).toBe(0);
    expect((await run(['limits', 'list', '--project', id])).out).not.toContain(customer);
    expect((await run(['limits', 'get', id, customer])).code).toBe(1);
  });

  test('models: set and list', async () => {
    const provider = uniqueName();
    await json(`models set ${provider} fast --input-usd-per-million 0.000001 --output-usd-per-million 10`);
    const listed = await run(`models list --provider ${provider}`);
    expect(listed.out).toMatch(new RegExp(`${provider} +fast +0\\.000001 +10 +– +– +true`));
    expect((await run(`models delete ${provider} fast`)).code).toBe(0);
    expect((await json(`models list --provider ${provider}`)).data).toEqual([]);
  });

  test('logs export writes every request, as CSV or JSON lines, and nothing else', async () => {
    const projectId = crypto.randomUUID();
    const startMs = Date.now() - 5_000;
    const record = (given: object) => sampleRecord({ projectId, ...given });
    const later = Array.from({ length: 1_200 }, (_, at) => record({ model: 'a, "b"', createdAtMs: startMs + at }));
    await storeRecords(admin, [record({ model: 'old', costNanoUsd: 5, createdAtMs: startMs - 1 }), ...later]);
    const csv = await run(`logs export --project-id ${projectId} --format csv`);
    const [head = '', ...rows] = csv.out.trimEnd().split('\r\n');
    expect([csv.code, csv.err, rows.length]).toEqual([0, '', 1_201]);
    expect(head.split(',')).toEqual(expect.arrayContaining(['created_at', 'model', 'cost_usd']));
    expect(rows[0]).toContain('"a, ""b"""');
    const before = `--project-id ${projectId} --to ${new Date(startMs).toISOString()}`;
    const lines = (await run(`logs export ${before} --format jsonl`)).out.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).model)).toEqual(['old']);
    expect((await run(`logs export --project-id ${projectId} --limit 3`)).out.trimEnd().split('\r\n')).toHaveLength(4);
    expect(await run('logs export --format xml')).toMatchObject({
      code: 2,
      err: expect.stringContaining('csv or jsonl'),
    });
    expect(await run('logs export --from yesterday')).toMatchObject({ code: 1, err: expect.stringContaining('from') });
  });

  test('logs tail shows the newest and follows until it is interrupted', async () => {
    const projectId = crypto.randomUUID();
    const startMs = Date.now();
    const record = (given: object) => sampleRecord({ projectId, ...given });
    await storeRecords(admin, [
      record({ model: 'first', createdAtMs: startMs - 1 }),
      record({ model: 'second', createdAtMs: startMs + 1 }),
    ]);
    const interrupt = new AbortController();
    let lines = 0;
    const followed = await run(`logs tail --project-id ${projectId} --lines 1`, {
      signal: interrupt.signal,
      onOut: () => {
        lines += 1;
        // A row that appears late, with an earlier time than the newest one shown.
        if (lines === 1)
          void storeRecords(admin, [record({ model: 'late\u001b[31m', costNanoUsd: 1, createdAtMs: startMs })]);
        if (lines === 2) interrupt.abort();
      },
    });
    expect(followed.code).toBe(0);
    const [first, second] = followed.out.split('\n');
    expect(first).toContain('success');
    expect(first).toContain('alpha/second');
    expect(second).toContain('alpha/late [31m');
    expect(second).toContain('$0.000000001');
    const text = await run(`logs tail --project-id ${projectId} --no-follow --json --lines 2`);
    expect(text.out.split('\n')[0]).toContain('"cost_usd":0.000000001,');
    const once = await run(`logs tail --project-id ${projectId} --no-follow --json`);
    expect(once.out.split('\n').map((line) => JSON.parse(line).model)).toEqual(['first', 'late\u001b[31m', 'second']);
  });

  test('stats, reconcile, cache purge', async () => {
    const projectId = crypto.randomUUID();
    await storeRecords(admin, [sampleRecord({ projectId, costNanoUsd: 5 })]);
    expect((await run(`stats --project-id ${projectId}`)).out).toMatch(/^cost_usd +0\.000000005$/m);
    const spend = await run(`stats spend --project-id ${projectId} --group-by model --interval 1d`);
    expect(spend.out).toMatch(/T00:00:00\.000Z +model-a +1 +0\.000000005/);
    expect((await run(`stats latency --project-id ${projectId}`)).out).toMatch(/latency p95/);
    const uneven = await run(`reconcile --project-id ${projectId}`);
    expect(uneven.code).toBe(1);
    expect(uneven.out).toContain('-0.000000005');
    expect(uneven.err).toStartWith('NOT EVEN');
    expect((await run(`reconcile --project-id ${crypto.randomUUID()}`)).code).toBe(0);
    expect(await json(`cache purge --project-id ${projectId}`)).toEqual({ exact: 0, semantic: 0 });
    expect((await run('cache purge')).err).toStartWith('400 invalid_request');
  });

  test('finance statement: a table with its total, or a file; labels of projects and keys', async () => {
    const name = uniqueName();
    await run(`projects create ${name} --labels team=search,env=prod`);
    const project = (await json('projects list')).data.find((one: { name: string }) => one.name === name);
    expect(project.labels).toEqual({ team: 'search', env: 'prod' });
    const key = await json(`keys create ${name} ci --labels team=ads`);
    expect(key.labels).toEqual({ team: 'ads' });
    expect((await json(`keys update ${name} ci --labels none`)).labels).toBeNull();
    const labels = { team: 'search' };
    await storeRecords(admin, [sampleRecord({ projectId: project.id, apiKeyId: key.id, costNanoUsd: 7, labels })]);
    const month = new Date().toISOString().slice(0, 7);
    const statement = `finance statement --month ${month} --project ${name} --by label.team`;
    const table = await run(statement);
    expect(table.out).toMatch(/^search +1 +0\.000000007 +– +– +– /m);
    expect(table.out).toMatch(/^Total +1 +0\.000000007/m);
    expect(table.err).toStartWith(`${month}, UTC, USD, project_id=${project.id}`);
    expect(await json(`${statement} --labels team=search`)).toMatchObject({ filters: { 'label.team': 'search' } });
    expect(JSON.parse((await run(`${statement} --format json`)).out).total.requests).toBe(1);
    const [head, ...lines] = (await run(`${statement} --format csv`)).out.split('\r\n');
    // The notes are quoted: they have commas.
    const cells = lines[0]?.replace(/"[^"]*"/g, '').split(',').length;
    expect([head?.split(',').length, lines.length]).toEqual([cells ?? 0, 2]);
    expect((await run(`${statement} --format xml`)).code).toBe(2);
    const focus = await run(`finance statement --month ${month} --project ${name} --format focus`);
    expect(focus.out).toMatch(/^BilledCost,.*\r\n0\.000000007,/);
    const team = await json(`teams create ${uniqueName()} --cost-center 4711`);
    expect(team.cost_center).toBe('4711');
    await admin.createProject({ team_id: team.id });
    expect(await json(`finance close 2020-01 --team-id ${team.id}`)).toMatchObject({ projects: 1, cost_usd: 0 });
    expect((await run(`finance close ${month} --team-id ${team.id}`)).err).toContain('Close it after that');
    expect((await run('finance closings')).out).toContain(team.id);
  });

  test('--json is the very answer of the API', async () => {
    const name = uniqueName();
    const { out } = await run(`projects create ${name} --monthly-cap-usd 9000000.123456789 --json`);
    expect(out).toContain('"monthly_cap_usd":9000000.123456789,');
  });

  test.each([
    [''],
    ['projects'],
    ['projects fly'],
    ['nothing at all'],
    ['keys create'],
    ['keys create only-project'],
    ['projects create a b'],
    ['projects list --colour red'],
    ['projects list --limit many'],
    ['limits set p c --model-limits {'],
  ])('"%s" is wrong usage: exit code 2', async (line) => {
    const { code, out, err } = await run(line === '' ? [] : line);
    expect(code).toBe(2);
    expect(out + err).not.toBe('');
  });

  test('--help works everywhere and needs no token', async () => {
    const env = {};
    const all = await run('--help', { env });
    expect(all.code).toBe(0);
    for (const name of [
      'projects create <name>',
      'keys rotate <project> <key>',
      'keys reencrypt',
      'limits set',
      'logs tail',
      'reconcile',
    ]) {
      expect(all.out).toContain(name);
    }
    expect((await run('keys --help', { env })).out).not.toContain('projects create');
    const one = await run('keys create --help', { env });
    expect(one.out).toContain('--budget-usd <usd>');
    expect((await run('projects update --help', { env })).out).toContain('--[no-]strict-caps');
  });

  test('no token, a wrong one, no gateway', async () => {
    expect(await run('projects list', { env: {} })).toMatchObject({ code: 2 });
    const url = 'http://gateway.test';
    const wrong = await run('projects list', { env: { LLM0_URL: url, ADMIN_TOKEN: 'wrong' } });
    expect([wrong.code, wrong.err.slice(0, 19)]).toEqual([1, '401 invalid_api_key']);
    expect(wrong.err).toEndWith(`, asked at ${url})`);
    const gone = await run('projects list', { env: { LLM0_URL: 'http://nowhere.test', ADMIN_TOKEN: 'x' } });
    expect(gone.code).toBe(1);
    expect(gone.err).toBe('The gateway at http://nowhere.test cannot be reached: Unable to connect');
  });

  test.each([
    [{}, 'http://127.0.0.1:8080'],
    [{ PORT: '2' }, 'http://127.0.0.1:2'],
    [{ PORT: '2', HOST: '::', TLS_ENABLED: 'yes' }, 'https://127.0.0.1:2'],
    [{ PORT: '2', HOST: '::1' }, 'http://[::1]:2'],
    [{ PORT: '2', ADMIN_PORT: '1' }, 'http://127.0.0.1:1'],
    [{ PORT: '0', LLM0_URL: 'http://nowhere.test' }, 'http://nowhere.test'],
    [{ ADMIN_PORT: '1' }, 'http://127.0.0.1:1'],
    [{ ADMIN_PORT: '1', HOST: '0.0.0.0', TLS_ENABLED: 'true' }, 'https://127.0.0.1:1'],
    [{ ADMIN_PORT: '1', HOST: '0.0.0.0', ADMIN_HOST: '10.0.0.1' }, 'http://10.0.0.1:1'],
    [{ ADMIN_PORT: '1', LLM0_URL: 'http://nowhere.test' }, 'http://nowhere.test'],
  ])('with %p it asks %s', async (env, url) => {
    const asked = await run('projects list', { env: { ADMIN_TOKEN: 'x', ...env } as Record<string, string> });
    expect(asked.err).toStartWith(`The gateway at ${url} cannot be reached`);
  });

  test.each([
    [{ PORT: '0' }, 'PORT=0'],
    [{ ADMIN_PORT: '0' }, 'ADMIN_PORT=0'],
    [{ PORT: 'x' }, 'PORT=x'],
  ])('with %p it asks nobody', async (env, why) => {
    const asked = await run('projects list', { env: { ADMIN_TOKEN: 'x', ...env } as Record<string, string> });
    expect([asked.code, asked.err]).toEqual([2, expect.stringContaining(why)]);
  });

  test('the token may be in a file, as the gateway reads it', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'llm0-cli-')), 'token');
    writeFileSync(file, `${ENV_TOKEN}\n`);
    const env = { LLM0_URL: 'http://gateway.test', ADMIN_TOKEN_FILE: file };
    expect((await run('projects list', { env })).code).toBe(0);
  });

  test('aliases: set makes and changes, list, delete', async () => {
    const alias = uniqueName();
    const made = await json(`aliases set ${alias} --targets openai/a/b,groq/c --weights 2,1 --strategy weighted`);
    expect(made.targets.map((one: { provider: string; model: string }) => [one.provider, one.model])).toEqual([
      ['openai', 'a/b'],
      ['groq', 'c'],
    ]);
    const changed = await json(`aliases set ${alias} --targets groq/c`);
    expect(changed).toMatchObject({ id: made.id, strategy: 'weighted' });
    expect((await run('aliases list')).out).toMatch(new RegExp(`^${alias} +– +weighted +groq/c +${made.id}$`, 'm'));
    expect((await run(`aliases set ${alias} --targets nothing`)).code).toBe(2);
    expect((await run(`aliases set ${alias} --targets openai/a --weights 1,2`)).code).toBe(2);
    expect((await run(`aliases delete ${alias}`)).code).toBe(0);
    expect((await run(`aliases delete ${alias}`)).code).toBe(1);
  });

  test('a project’s own alias is another than that of all projects', async () => {
    const [alias, name] = [uniqueName(), uniqueName()];
    await json(`projects create ${name}`);
    const shared = await json(`aliases set ${alias} --targets openai/a`);
    const own = await json(`aliases set ${alias} --project ${name} --targets openai/b`);
    expect(own.id).not.toBe(shared.id);
    expect((await run(`aliases delete ${alias} --project ${name}`)).code).toBe(0);
    expect((await json(`aliases set ${alias} --targets openai/c`)).id).toBe(shared.id);
  });

  test('chains: list, set, reset', async () => {
    expect((await run('chains list')).out).toMatch(/^balanced +openai\/gpt-4o-mini → anthropic\/.+ balanced +false$/m);
    const targets = '[{"provider":"openai","model":"m"}]';
    const set = await json(['chains', 'set', 'balanced', '--targets', targets, '--local-tier', 'budget']);
    expect(set).toMatchObject({ name: 'balanced', edited: true, local_tier: 'budget' });
    expect((await run('chains reset balanced')).code).toBe(0);
    expect((await run('chains list')).out).toContain('openai/gpt-4o-mini');
  });

  test('providers: create, keys from the environment, test, delete; no secret is printed', async () => {
    const vendor = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => Response.json({ data: [] }) });
    const secret = 'sk-from-the-environment-1234';
    const env = { LLM0_URL: 'http://gateway.test/', ADMIN_TOKEN: ENV_TOKEN, PROVIDER_KEY: secret };
    const name = uniqueName();
    try {
      const outputs = [
        await run(['providers', 'create', name, '--base-url', `http://127.0.0.1:${vendor.port}/v1`], { env }),
        await run(`providers add-key ${name} --name second`, { env }),
        await run(`providers keys ${name}`),
        await run(`providers test ${name}`),
        await run('providers list --limit 1000'),
      ];
      expect(outputs.map(({ code, err }) => [code, code === 0 ? '' : err])).toEqual(outputs.map(() => [0, '']));
      const [, , keys, tested, listed] = outputs.map(({ out }) => out);
      expect(keys?.split('\n')[0]).toMatch(/^id +name +ends in +state/);
      expect(keys).toContain('1234');
      expect(tested).toMatch(/^ok +true$/m);
      expect(listed?.split('\n').find((line) => line.startsWith(name))).toMatch(/openai-compatible +true +2 /);
      for (const { out, err } of outputs) expect(out + err).not.toContain(secret);
      const [key] = (await json(`providers keys ${name}`)).data;
      expect((await run(`providers remove-key ${name} ${key.id}`)).code).toBe(0);
      expect(await run(`providers add-key ${name}`)).toMatchObject({
        code: 2,
        err: expect.stringContaining('PROVIDER_KEY'),
      });
      await vendor.stop(true);
      expect((await run(`providers test ${name}`)).code).toBe(1);
      expect((await run(`providers delete ${name}`)).code).toBe(0);
    } finally {
      await vendor.stop(true);
    }
  });
});
