import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hostGateway } from '../stores/host-gateway';
import { callAdmin, createTestKey, type GatewayProcess } from '../stores/start-gateway';
import { ask, postChat, STORE_KINDS, settledLedger, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;
/** $1 a million in and out: it holds what it costs. */
const CALL = { model: 'race-model', max_tokens: 92, x_fake: { usage: { prompt: 8, completion: 92 } } };
const EACH_USD = 0.0001;
/** What calls cost, exactly. */
const usd = (calls: number) => (calls * EACH_USD).toFixed(4);

interface Shares {
  readonly budget_usd: number;
  readonly spent_usd: number;
  readonly rest_usd: number;
  readonly drawn_usd: number;
  readonly others_spent_usd: number;
  readonly data: readonly { readonly share_usd: number; readonly spent_usd: number; readonly drawn_usd: number }[];
}

describe.each(STORE_KINDS)("a team's budget, split among its projects, on %s stores", (kind) => {
  let world: TestEnvironment;
  const gateways: GatewayProcess[] = [];
  beforeAll(async () => {
    world = await shareEnvironment({ kind });
    gateways.push(world.gateway);
    if (kind === 'real') gateways.push(await hostGateway({ env: world.env }));
    for (const provider of ['openai', 'anthropic']) {
      const body = { input_usd_per_million: 1, output_usd_per_million: 1 };
      await callAdmin(world.gateway, `/models?provider=${provider}&model=race-model`, { method: 'PUT', body });
    }
  }, SETUP_MS);
  afterAll(async () => {
    for (const extra of gateways.slice(1)) await extra.kill();
    await world.close();
  }, SETUP_MS);

  let turn = 0;
  const send = async (apiKey: string, model = 'openai/race-model', call: object = CALL) => {
    turn += 1;
    const gateway = gateways[turn % gateways.length] ?? world.gateway;
    const response = await postChat(gateway, apiKey, ask('twelve bytes', { max_tokens: 92, ...call, model }));
    return ((await response.json()) as { error?: { code: string; message: string; budget_usd: number } }).error;
  };
  const admin = <T = { id: string }>(path: string, body: Record<string, unknown>, method = 'POST') =>
    callAdmin<T>(world.gateway, path, { method, body });
  const sharesOf = (id: string) => callAdmin<Shares>(world.gateway, `/teams/${id}/shares`);
  const makeTeam = (calls: number) =>
    admin('/teams', { name: `team ${crypto.randomUUID()}`, monthly_cap_usd: usd(calls) });
  const makeKey = (teamId: string, project: Record<string, unknown> = {}) =>
    createTestKey(world.gateway, { project: { cache_enabled: false, team_id: teamId, ...project } });

  test('300 at once: each project has its share, the rest is shared, and all of the budget is spent', async () => {
    const team = await makeTeam(100);
    const kept = await makeKey(team.id, { team_share_usd: usd(40), team_overdraft: false });
    const drawing = await makeKey(team.id, { team_share_usd: usd(20) });
    const free = await makeKey(team.id);
    const count = async (apiKeys: readonly string[], calls: number) => {
      const sent = Array.from({ length: calls }, (_, n) => send(apiKeys[n % apiKeys.length] ?? ''));
      const errors = (await Promise.all(sent)).flatMap((error) => (error === undefined ? [] : [error.code]));
      expect(errors.filter((code) => code !== 'team_budget_exceeded')).toEqual([]);
      return calls - errors.length;
    };
    expect(await count([drawing.apiKey, free.apiKey], 200)).toBe(60);
    expect((await send(free.apiKey))?.message).toContain(
      "The monthly budget of this team doesn't cover this request: $0.006 of $0.006 is spent, and $0.004 more is kept",
    );
    expect(await count([kept.apiKey], 100)).toBe(40);
    await settledLedger(world.gateway);
    const shares = await sharesOf(team.id);
    expect(shares).toMatchObject({ budget_usd: 0.01, spent_usd: 0.01, rest_usd: 0.004, drawn_usd: 0.004 });
    expect(shares.data.map((one) => one.share_usd)).toEqual([0.004, 0.002]);
    const [first, second] = shares.data;
    expect([first?.spent_usd, first?.drawn_usd]).toEqual([0.004, 0]);
    expect((second?.drawn_usd ?? 0) + shares.others_spent_usd).toBeCloseTo(0.004, 9);
  }, 120_000);

  test('a changed share, overdraft, a move and a deleted project apply to the next request', async () => {
    const [team, other] = [await makeTeam(10), await makeTeam(100)];
    const free = await makeKey(team.id);
    const owner = await makeKey(team.id, { team_share_usd: usd(8) });
    const change = (body: Record<string, unknown>) => admin(`/projects/${owner.projectId}`, body, 'PATCH');
    const isServed = async (apiKey: string) => (await send(apiKey)) === undefined;
    expect([await isServed(free.apiKey), await isServed(free.apiKey), await isServed(free.apiKey)]).toEqual([
      true,
      true,
      false,
    ]);
    await change({ team_share_usd: usd(7) });
    expect([await isServed(free.apiKey), await isServed(free.apiKey)]).toEqual([true, false]);
    await change({ team_share_usd: usd(1), team_overdraft: false });
    expect([await isServed(owner.apiKey), await isServed(owner.apiKey)]).toEqual([true, false]);
    expect(await send(owner.apiKey)).toMatchObject({
      message: expect.stringContaining('The monthly budget that the team keeps for this project'),
      ...{ spent_usd: 0.0001, budget_usd: 0.0001 },
    });
    await change({ team_overdraft: true });
    expect(await isServed(owner.apiKey)).toBe(true);
    await change({ team_share_usd: usd(6) });
    // 5 are spent; its share claims 4 of the 5 that are left.
    expect([await isServed(free.apiKey), await isServed(free.apiKey)]).toEqual([true, false]);
    await change({ team_id: other.id });
    expect(await isServed(free.apiKey)).toBe(true);
    const another = await makeKey(team.id, { team_share_usd: usd(5) });
    expect([await isServed(free.apiKey), await isServed(free.apiKey)]).toEqual([false, false]);
    await callAdmin(world.gateway, `/projects/${another.projectId}`, { method: 'DELETE' });
    expect(await isServed(free.apiKey)).toBe(true);
  }, 60_000);

  test('one budget covers all providers: what one of them costs, the others cannot spend', async () => {
    const team = await makeTeam(1000);
    const { apiKey, projectId } = await makeKey(team.id);
    const models = ['openai/race-model', 'anthropic/race-model'];
    for (const model of models) expect(await send(apiKey, model, {})).toBeUndefined();
    await settledLedger(world.gateway);
    type Logs = { data: { provider: string; cost_usd: number }[] };
    const { data } = await callAdmin<Logs>(world.gateway, `/logs?project_id=${projectId}&status=success`);
    expect(data.map(({ provider }) => provider).sort()).toEqual(['anthropic', 'openai']);
    const cost = data.reduce((sum, row) => sum + row.cost_usd, 0);
    expect((await sharesOf(team.id)).spent_usd).toBeCloseTo(cost, 9);
    await admin(`/teams/${team.id}`, { monthly_cap_usd: cost.toFixed(9) }, 'PATCH');
    for (const model of models) {
      const refused = { code: 'team_budget_exceeded', spent_usd: Number(cost.toFixed(9)) };
      expect(await send(apiKey, model, {})).toMatchObject(refused);
    }
  }, 60_000);
});
