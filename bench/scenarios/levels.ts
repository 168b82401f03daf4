import { callAdmin, createTestKey } from '@llm0/testing/stores/start-gateway';
import { cpuPer1000, findRow, type Row, ratioTo } from '../report/rows';
import type { BenchWorld, StartedGateway } from '../start-bench';
import { measureInTurn } from './run-scenario';
import type { Scenario } from './scenarios';
import { needGateway, type SpecialOutcome, targetOf } from './special';

const ONE = 'one level';
const FIVE = 'five levels';
/** Counted, and never used up. */
const BUDGET = { daily_budget_usd: 1_000_000 };

const MISS: Scenario = {
  ...{ name: 'levels', what: 'a miss', expectStatus: 200, key: 'open', seconds: 5, isDefault: false },
  targets: ['gateway'],
  requests: [{ model: 'gpt-4o-mini', stream: false, question: 'unique' }],
};

/** The same misses under one budget and under five, on one gateway, in turn. */
export async function measureLevels(world: BenchWorld): Promise<SpecialOutcome> {
  const gateway = needGateway(world, 'levels');
  const { apiKey } = await createTestKey(gateway, { key: BUDGET });
  const targets = [targetOf(world, ONE, apiKey), targetOf(world, FIVE, await keyOfFive(gateway))];
  const connections = world.options.connections[0] ?? 10;
  const rows = await measureInTurn(
    world,
    targets.map((target) => ({ scenario: MISS, target, connections })),
  );
  return { rows, notes: [describe(rows)] };
}

async function keyOfFive(gateway: StartedGateway): Promise<string> {
  const make = (path: string, body: object) => callAdmin<{ id: string }>(gateway, path, { body });
  const name = `levels ${crypto.randomUUID()}`;
  const organization = await make('/organizations', { name, ...BUDGET });
  const team = await make('/teams', { name, organization_id: organization.id, ...BUDGET });
  const user = await make('/users', { name, email: `${crypto.randomUUID()}@example.com` });
  await callAdmin(gateway, `/users/${user.id}`, { method: 'PATCH', body: BUDGET });
  const key = { user_id: user.id, ...BUDGET };
  return (await createTestKey(gateway, { project: { team_id: team.id, ...BUDGET }, key })).apiKey;
}

function describe(rows: readonly Row[]): string {
  const row = rows.find(({ target }) => target === FIVE);
  const before = row && findRow(rows, row, { target: ONE });
  if (row === undefined || before === undefined) throw new Error('not measured');
  const cpu = [before, row].map((one) => cpuPer1000(one, 'gateway').toFixed(3));
  return (
    `levels: misses under five budgets are ${ratioTo(row, before)?.toFixed(2)}× of those under one (must be ≥ 0.95×); ` +
    `${cpu.join(' → ')} ms of a core each`
  );
}
