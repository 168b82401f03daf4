import { callAdmin, createTestKey } from '@llm0/testing/stores/start-gateway';
import type { RequestShape } from '../load/load-job';
import { DIRECT, FLOOR, findRow, GATEWAY, latencyOf, type Row, ratioTo } from '../report/rows';
import { type BenchWorld, type StartedGateway, startScript, type Target } from '../start-bench';
import { measureInTurn } from './run-scenario';
import type { Scenario } from './scenarios';
import { needGateway, type SpecialOutcome } from './special';

const SECONDS = 5;
const CONNECTIONS = 10;
const FIVE_IN_ONE = 'await Promise.all([1, 2, 3, 4, 5].map(() => tools.bench.wait({}))); 1';

const callOf = (path: string, name: string, args: object): RequestShape => ({
  ...{ path, model: '', stream: false, question: 'same' },
  body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
});

const scenarioOf = (name: string, what: string, request: RequestShape): Scenario => ({
  ...{ name, what, requests: [request], expectStatus: 200, key: 'open', seconds: SECONDS, isDefault: false },
  targets: ['direct', 'floor', 'gateway'],
});

/** A server behind the gateway, with a key that may call it and run scripts over it. */
async function withServer<T>(
  gateway: StartedGateway,
  run: (found: { readonly url: string; readonly apiKey: string }) => Promise<T>,
): Promise<T> {
  const { child, url } = await startScript('mcp-server.ts', []);
  try {
    const body = { approve: 'all', alias: 'bench', url: `${url}/mcp`, price_per_call_usd: 0.0001 };
    const { id } = await callAdmin<{ id: string }>(gateway, '/mcp/servers', { method: 'POST', body });
    const { apiKey } = await createTestKey(gateway, { key: { allowed_tools: ['*'], code_mode: true } });
    const found = await run({ url, apiKey });
    await callAdmin(gateway, `/mcp/servers/${id}`, { method: 'DELETE' });
    return found;
  } finally {
    child.kill();
  }
}

function oursOf({ targets }: BenchWorld, apiKey: string): Target {
  const ours = targets.find(({ kind }) => kind === 'gateway');
  if (ours === undefined) throw new Error('no gateway to measure');
  return { ...ours, keys: { ...ours.keys, open: apiKey } };
}

/** A call of a tool, against the server asked directly and a bare proxy before it. */
export async function measureMcpCall(world: BenchWorld): Promise<SpecialOutcome> {
  return withServer(needGateway(world, 'mcp-call'), async ({ url, apiKey }) => {
    const floor = await startScript('bare-proxy.ts', [], { UPSTREAM_URL: url });
    try {
      const ours = oursOf(world, apiKey);
      const targets: readonly Target[] = [
        { ...ours, name: DIRECT, kind: 'direct', url, pid: undefined },
        { ...ours, name: FLOOR, kind: 'floor', url: floor.url, pid: floor.pid },
        ours,
      ];
      const request = callOf('/mcp', 'bench__echo', { text: 'What is there?' });
      const scenario = scenarioOf('mcp-call', 'a call of a tool', request);
      const rows = await measureInTurn(
        world,
        targets.map((target) => ({ scenario, target, connections: CONNECTIONS })),
      );
      return { rows, notes: [describeCall(rows)] };
    } finally {
      floor.child.kill();
    }
  });
}

function describeCall(rows: readonly Row[]): string {
  const row = rows.find(({ target }) => target === GATEWAY);
  if (row === undefined) throw new Error('the gateway was not measured');
  const direct = findRow(rows, row, { target: DIRECT });
  const added = (name: 'p50' | 'p99') =>
    direct === undefined ? 'unknown' : `${(latencyOf(row, name) - latencyOf(direct, name)).toFixed(2)} ms`;
  const ratio = ratioTo(row, findRow(rows, row, { target: FLOOR }))?.toFixed(2);
  return `mcp-call: added p50 ${added('p50')} (must be ≤ 0.6 ms), p99 ${added('p99')} (must be ≤ 3 ms); ${ratio}× of the bare proxy (must be ≥ 0.45×)`;
}

/** A script that does nothing, one after the other. */
export const measureCodeEmpty = (world: BenchWorld): Promise<SpecialOutcome> =>
  measureCode(world, { name: 'code-empty', code: '1', mustMs: 5 });

/** Five tools of 50 ms in parallel in one script. */
export const measureCodeFive = (world: BenchWorld): Promise<SpecialOutcome> =>
  measureCode(world, { name: 'code-five', code: FIVE_IN_ONE, mustMs: 90 });

interface Script {
  readonly name: string;
  readonly code: string;
  readonly mustMs: number;
}

async function measureCode(world: BenchWorld, { name, code, mustMs }: Script): Promise<SpecialOutcome> {
  return withServer(needGateway(world, name), async ({ apiKey }) => {
    const scenario = scenarioOf(name, 'a script', callOf('/mcp/code', 'execute_code', { code }));
    const rows = await measureInTurn(world, [{ scenario, target: oursOf(world, apiKey), connections: 1 }]);
    const [row] = rows;
    const p50 = row === undefined ? 'unknown' : `${latencyOf(row, 'p50').toFixed(2)} ms`;
    const p99 = row === undefined ? 'unknown' : `${latencyOf(row, 'p99').toFixed(2)} ms`;
    return { rows, notes: [`${name}: p50 ${p50} (must be ≤ ${mustMs} ms), p99 ${p99}`] };
  });
}
