import { callAdmin, createTestKey } from '@llm0/testing/stores/start-gateway';
import { cpuPer1000, findRow, latencyOf, type Row, ratioTo, ttfbOf } from '../report/rows';
import type { BenchWorld, StartedGateway } from '../start-bench';
import { measureInTurn } from './run-scenario';
import type { Scenario } from './scenarios';
import { needGateway, type SpecialOutcome, targetOf } from './special';

const SECONDS = 5;
const MANY = 10;
const WITHOUT = 'without guardrails';
const OFF = 'policy off';
const GUARDED = 'guarded';
const RULES = [
  { name: 'pii', on: 'both', check: { type: 'pii' }, action: 'redact' },
  { name: 'secrets', on: 'both', check: { type: 'secrets' }, action: 'redact' },
  {
    ...{ name: 'words', on: 'both', action: 'redact' },
    check: { type: 'words', words: Array.from({ length: 500 }, (_, index) => `forbidden${index}`) },
  },
];

const scenarioOf = (name: string, what: string, request: Partial<Scenario['requests'][number]>): Scenario => ({
  ...{ name, what, expectStatus: 200, key: 'open', seconds: SECONDS, isDefault: false, targets: ['gateway'] },
  requests: [{ model: 'gpt-4o-mini', stream: false, question: 'unique', ...request }],
});
const STREAM = scenarioOf('guarded-stream', 'an answer in 500 chunks', { stream: true, chunks: 500 });
const FIRST = scenarioOf('guarded-first', 'the same, one at a time', { stream: true, chunks: 500 });
const PROMPT = scenarioOf('guarded-prompt', 'a prompt of 2 kB, one at a time', { bytes: 2048 });

/** What `pii`, `secrets` and 500 words cost whole requests, and a policy that is off; all of it on one gateway, in turn. */
export async function measureGuarded(world: BenchWorld): Promise<SpecialOutcome> {
  const gateway = needGateway(world, 'guarded');
  const targets = [
    targetOf(world, WITHOUT, gateway.open.apiKey),
    targetOf(world, OFF, await keyUnder(gateway, 'off')),
    targetOf(world, GUARDED, await keyUnder(gateway, 'enforce')),
  ];
  const plan = [
    [STREAM, MANY],
    [FIRST, 1],
    [PROMPT, 1],
  ] as const;
  const rows: Row[] = [];
  for (const [scenario, connections] of plan) {
    const measured = targets.map((target) => ({ scenario, target, connections }));
    rows.push(...(await measureInTurn(world, measured)));
  }
  return { rows, notes: describe(rows) };
}

async function keyUnder(gateway: StartedGateway, mode: 'off' | 'enforce'): Promise<string> {
  const { projectId, apiKey } = await createTestKey(gateway);
  await callAdmin(gateway, `/projects/${projectId}/guardrails`, { method: 'PUT', body: { mode, rules: RULES } });
  return apiKey;
}

function describe(rows: readonly Row[]): readonly string[] {
  const rowOf = ({ name }: Scenario, target: string) => {
    const row = rows.find((one) => one.scenario === name && one.target === target);
    if (row === undefined) throw new Error(`${target} was not measured`);
    return row;
  };
  const share = (scenario: Scenario, target: string) => {
    const row = rowOf(scenario, target);
    return `${ratioTo(row, findRow(rows, row, { target: WITHOUT }))?.toFixed(2)}×`;
  };
  const cpuOf = (target: string) => cpuPer1000(rowOf(STREAM, target), 'gateway').toFixed(2);
  const added = (scenario: Scenario, of: typeof ttfbOf) =>
    `${(of(rowOf(scenario, GUARDED), 'p50') - of(rowOf(scenario, WITHOUT), 'p50')).toFixed(2)} ms`;
  return [
    `guarded: streams of 500 chunks ${share(STREAM, GUARDED)} of those without guardrails (must be ≥ 0.85×); ` +
      `a policy that is off ${share(STREAM, OFF)}; ` +
      `${cpuOf(GUARDED)} ms of a core each, over ${cpuOf(WITHOUT)} without`,
    `guarded: time to first byte of such a stream, added p50 ${added(FIRST, ttfbOf)} (must be ≤ 1 ms)`,
    `guarded: a prompt of 2 kB, added p50 ${added(PROMPT, latencyOf)} with all of a request around it`,
  ];
}
