import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hostGateway } from '../stores/host-gateway';
import { callAdmin, createTestKey, type GatewayProcess } from '../stores/start-gateway';
import { ask, postChat, STORE_KINDS, settledLedger, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;
const TEST_MS = 120_000;
/** $1 a million in and out: it holds what it costs. */
const CALL = { model: 'race-model', max_tokens: 92, x_fake: { usage: { prompt: 8, completion: 92 } } };
const EACH_USD = 0.0001;
/** What calls cost, exactly. */
const usd = (calls: number) => (calls * EACH_USD).toFixed(4);

describe.each(STORE_KINDS)('budgets of organizations, teams and users on %s stores', (kind) => {
  let world: TestEnvironment;
  const gateways: GatewayProcess[] = [];
  beforeAll(async () => {
    world = await shareEnvironment({ kind, allVendors: false });
    gateways.push(world.gateway);
    if (kind === 'real') gateways.push(await hostGateway({ env: world.env }));
    await callAdmin(world.gateway, '/models?provider=openai&model=race-model', {
      method: 'PUT',
      body: { input_usd_per_million: 1, output_usd_per_million: 1 },
    });
  }, SETUP_MS);
  afterAll(async () => {
    for (const extra of gateways.slice(1)) await extra.kill();
    await world.close();
  }, SETUP_MS);

  let turn = 0;
  const send = async (apiKey: string, more: Record<string, unknown> = {}) => {
    turn += 1;
    const gateway = gateways[turn % gateways.length] ?? world.gateway;
    const response = await postChat(gateway, apiKey, ask('twelve bytes', { ...CALL, ...more }));
    const { error } = (await response.json()) as { error?: { code: string; message: string } };
    return error;
  };
  const admin = <T = { id: string }>(path: string, body: Record<string, unknown>, method = 'POST') =>
    callAdmin<T>(world.gateway, path, { method, body });
  const named = (name: string) => ({ name: `${name} ${crypto.randomUUID()}` });
  const makeKey = (teamId: string, key: Record<string, unknown> = {}) =>
    createTestKey(world.gateway, { project: { cache_enabled: false, team_id: teamId }, key });

  test(
    'all at their edge, 1,000 at once over three projects and two processes: none is overspent, none refuses for nothing',
    async () => {
      const { id: organizationId } = await admin('/organizations', named('org'));
      const makeTeam = (calls: number) =>
        admin('/teams', { ...named('team'), organization_id: organizationId, daily_budget_usd: usd(calls) });
      const [one, two] = [await makeTeam(100), await makeTeam(150)];
      const user = await admin('/users', { ...named('ann'), email: `${crypto.randomUUID()}@example.com` });
      const mine = await makeKey(one.id, { user_id: user.id });
      const others = [await makeKey(one.id), await makeKey(two.id)];
      await admin(`/users/${user.id}`, { weekly_budget_usd: usd(40) }, 'PATCH');
      await admin(`/organizations/${organizationId}`, { monthly_cap_usd: usd(220) }, 'PATCH');
      const keys = [mine, ...others].map(({ apiKey }) => apiKey);
      const answers = await Promise.all(Array.from({ length: 1000 }, (_, n) => send(keys[n % 3] ?? '')));
      const errors = answers.flatMap((error) => (error === undefined ? [] : [error]));
      expect(1000 - errors.length).toBe(220);
      // The user's requests may all come after the team's budget is used up.
      const codes = new Set(errors.map(({ code }) => code).filter((code) => code !== 'user_budget_exceeded'));
      expect([...codes]).toEqual(['team_budget_exceeded']);
      const said = new Set(errors.map(({ message }) => message.replace(/ doesn't.*/, '')));
      expect(said).toContain('The monthly budget of this organization');
      const ledger = await settledLedger(world.gateway);
      const ids = new Set([mine, ...others].map(({ projectId }) => projectId));
      const own = ledger.projects.filter((project) => ids.has(project.project_id));
      expect(own.reduce((sum, project) => sum + Math.round(project.counter_usd / EACH_USD), 0)).toBe(220);
      expect(own.every((project) => project.diff_usd === 0)).toBe(true);
      type Budgets = { data: { id: string; scope: string; used_usd: number; limit_usd: number }[] };
      const { data } = await callAdmin<Budgets>(world.gateway, '/budgets?limit=1000');
      const levels = data.filter(({ id }) => [organizationId, one.id, two.id, user.id].includes(id));
      expect(levels).toHaveLength(4);
      expect(levels.filter(({ used_usd: used, limit_usd: limit }) => used > limit)).toEqual([]);
    },
    TEST_MS,
  );

  test('requests and tokens a minute are those of all projects and users together, and given back as those of keys', async () => {
    const team = await admin('/teams', { ...named('team'), rate_limit_per_minute: 3 });
    const [one, two] = [await makeKey(team.id), await makeKey(team.id)];
    const codes: (string | undefined)[] = [];
    for (const { apiKey } of [one, two, one, two]) codes.push((await send(apiKey))?.code);
    expect(codes).toEqual([undefined, undefined, undefined, 'rate_limit_exceeded']);
    const refused = await postChat(world.gateway, one.apiKey, ask('twelve bytes', CALL));
    expect(refused.headers.get('retry-after')).not.toBeNull();
    expect(await refused.json()).toMatchObject({ error: { param: 'team' } });
    await admin(`/teams/${team.id}`, { rate_limit_per_minute: null, tokens_per_minute: 250 }, 'PATCH');
    // Each estimates 100 tokens and uses as many.
    expect([(await send(one.apiKey))?.code, (await send(two.apiKey))?.code]).toEqual([undefined, undefined]);
    expect((await send(one.apiKey))?.message).toMatch(
      /^This team used up its tokens for this minute\. Try again in \d+ s\.$/,
    );
    await admin(`/teams/${team.id}`, { tokens_per_minute: 90 }, 'PATCH');
    expect((await send(one.apiKey))?.code).toBe('request_over_limit');
    await admin(`/teams/${team.id}`, { tokens_per_minute: null }, 'PATCH');
    expect(await send(one.apiKey)).toBeUndefined();
  });

  test('a budget counts what was spent before; a raise, a move and a new owner apply to the next request', async () => {
    const [one, two] = [await admin('/teams', named('team')), await admin('/teams', named('team'))];
    const [here, there] = [await makeKey(one.id), await makeKey(two.id)];
    for (let i = 0; i < 3; i++) expect(await send(here.apiKey)).toBeUndefined();
    const limit = (teamId: string, calls: number) =>
      admin(`/teams/${teamId}`, { monthly_cap_usd: usd(calls) }, 'PATCH');
    await limit(one.id, 3);
    expect((await send(here.apiKey))?.code).toBe('team_budget_exceeded');
    await limit(one.id, 4);
    expect(await send(here.apiKey)).toBeUndefined();
    expect((await send(here.apiKey))?.message).toContain('$0.0004 of $0.0004 is spent');
    await limit(two.id, 2);
    expect(await send(there.apiKey)).toBeUndefined();
    // It leaves with its spend, and brings it along.
    await admin(`/projects/${here.projectId}`, { team_id: two.id }, 'PATCH');
    expect((await send(here.apiKey))?.message).toContain('$0.0005 of $0.0002 is spent');
    await limit(two.id, 6);
    expect(await send(there.apiKey)).toBeUndefined();
    const user = await admin('/users', { ...named('ben'), email: `${crypto.randomUUID()}@example.com` });
    await admin(`/users/${user.id}`, { daily_budget_usd: 0 }, 'PATCH');
    await limit(two.id, 100);
    await admin(`/projects/${here.projectId}/keys/${here.keyId}`, { user_id: user.id }, 'PATCH');
    expect((await send(here.apiKey))?.code).toBe('user_budget_exceeded');
    await admin(`/users/${user.id}`, { daily_budget_usd: null }, 'PATCH');
    expect(await send(here.apiKey)).toBeUndefined();
  });

  test('models: each level must allow one, from the next request', async () => {
    const { id: organizationId } = await admin('/organizations', named('org'));
    const team = await admin('/teams', { ...named('team'), organization_id: organizationId });
    const user = await admin('/users', { ...named('eve'), email: `${crypto.randomUUID()}@example.com` });
    const { apiKey, projectId, keyId } = await makeKey(team.id, { user_id: user.id });
    const paths = [`/organizations/${organizationId}`, `/teams/${team.id}`, `/users/${user.id}`];
    for (const path of [...paths, `/projects/${projectId}`, `/projects/${projectId}/keys/${keyId}`]) {
      const allow = (models: readonly string[] | null) => admin(path, { allowed_models: models }, 'PATCH');
      expect([path, await send(apiKey)]).toEqual([path, undefined]);
      await allow(['other-*']);
      expect([path, (await send(apiKey))?.code]).toEqual([path, 'model_not_allowed']);
      const listed = await fetch(`${world.gateway.url}/v1/models`, { headers: { authorization: `Bearer ${apiKey}` } });
      expect(await listed.text()).not.toContain('race-model');
      await allow(['other-*', 'openai/*']);
    }
    expect(await send(apiKey)).toBeUndefined();
    // Who administers the project chooses the names of its aliases.
    const targets = [{ provider: 'openai', model: 'race-model' }];
    await admin('/aliases', { project_id: projectId, alias: 'other-name', targets });
    const byAlias = () => send(apiKey, { model: 'other-name' });
    expect(await byAlias()).toBeUndefined();
    await admin(`/projects/${projectId}`, { allowed_models: ['other-*'] }, 'PATCH');
    expect(await byAlias()).toBeUndefined();
    for (const path of paths) {
      await admin(path, { allowed_models: ['other-*'] }, 'PATCH');
      expect([path, (await byAlias())?.code]).toEqual([path, 'model_not_allowed']);
      const listed = await fetch(`${world.gateway.url}/v1/models`, { headers: { authorization: `Bearer ${apiKey}` } });
      expect(await listed.text()).not.toContain('other-name');
      await admin(path, { allowed_models: null }, 'PATCH');
    }
  });

  test('providers: each level must allow one, from the next request, also for native APIs', async () => {
    const { id: organizationId } = await admin('/organizations', named('org'));
    const team = await admin('/teams', { ...named('team'), organization_id: organizationId });
    const user = await admin('/users', { ...named('eve'), email: `${crypto.randomUUID()}@example.com` });
    const project = { cache_enabled: false, team_id: team.id, passthrough: ['openai'] };
    const { apiKey, projectId, keyId } = await createTestKey(world.gateway, { project, key: { user_id: user.id } });
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    for (const [level, path] of [
      ['organization', `/organizations/${organizationId}`],
      ['team', `/teams/${team.id}`],
      ['user', `/users/${user.id}`],
      ['project', `/projects/${projectId}`],
      ['key', `/projects/${projectId}/keys/${keyId}`],
    ] as const) {
      const allow = (providers: readonly string[]) => admin(path, { allowed_providers: providers }, 'PATCH');
      expect([level, await send(apiKey)]).toEqual([level, undefined]);
      await allow(['groq']);
      const refused = await send(apiKey);
      expect([level, refused?.code]).toEqual([level, 'model_not_allowed']);
      expect(refused?.message).toContain(`"allowed_providers" of ${level === 'key' ? 'the' : 'its'} ${level} doesn't`);
      const listed = await fetch(`${world.gateway.url}/v1/models`, { headers });
      expect(await listed.text()).not.toContain('race-model');
      const native = await fetch(`${world.gateway.url}/passthrough/openai/v1/chat/completions`, {
        ...{ method: 'POST', headers, body: JSON.stringify(ask('twelve bytes', CALL)) },
      });
      expect([level, native.status]).toEqual([level, 403]);
      await allow(['groq', 'openai']);
    }
    expect(await send(apiKey)).toBeUndefined();
  });

  test('native APIs, tools and guardrails: each level permits at most its own, from the next request', async () => {
    const { id: organizationId } = await admin('/organizations', named('org'));
    const team = await admin('/teams', { ...named('team'), organization_id: organizationId });
    const user = await admin('/users', { ...named('eve'), email: `${crypto.randomUUID()}@example.com` });
    const project = { cache_enabled: false, team_id: team.id, passthrough: ['openai'], allowed_tools: ['*'] };
    const { apiKey } = await createTestKey(world.gateway, { project, key: { user_id: user.id } });
    const native = async () => {
      const url = `${world.gateway.url}/passthrough/openai/v1/chat/completions`;
      const init = {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      };
      const response = await fetch(url, { ...init, body: JSON.stringify(ask('twelve bytes', CALL)) });
      const body = (await response.json()) as { error?: { param?: string } };
      return [response.status, body.error?.param];
    };
    const word = { name: 'word', on: 'input', check: { type: 'words', words: ['twelve'] }, action: 'block' };
    for (const [level, id] of [
      ['organization', organizationId],
      ['team', team.id],
      ['user', user.id],
    ] as const) {
      const set = (body: Record<string, unknown>) => admin(`/${level}s/${id}`, body, 'PATCH');
      expect([level, await native()]).toEqual([level, [200, undefined]]);
      await set({ passthrough: ['groq'] });
      expect([level, (await native())[0]]).toEqual([level, 403]);
      await set({ passthrough: ['groq', 'openai'], guardrail_rules: [word] });
      expect([level, await native()]).toEqual([level, [400, `${level}/word`]]);
      expect((await send(apiKey))?.code).toBe('guardrail_blocked');
      await set({ guardrail_rules: null });
      expect(await send(apiKey)).toBeUndefined();
    }
  });
});
