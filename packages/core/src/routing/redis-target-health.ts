// Without Redis, `exchange` throws, and the process uses its own observations.
import type { RedisClient, ScriptArg } from '../limits/redis/scripts';
import exchangeHealth from './lua/exchange-health.lua' with { type: 'text' };
import type { Peers } from './places/peers';
import {
  HALF_OPEN_KEPT_MS,
  type HealthReport,
  MAX_SHARED_TARGETS,
  PROBE_LEASE_MS,
  type SharedHealth,
  type TargetHealthStore,
} from './target-health-store';

export interface RedisTargetHealthOptions {
  /** A separate connection, so that nothing delays an admission. */
  readonly client: RedisClient;
  readonly namespace?: string;
  /** Names this process. */
  readonly owner: string;
  /** Absent: the processes don't count each other. */
  readonly peers?: Peers;
  /** Epoch milliseconds instead of the server's clock: for tests only. */
  readonly clock?: () => number;
}

const COMMAND = 'llm0_exchangeHealth';
/** A process without a beat for this long is gone. */
const LIVE_MS = 3000;

type Exchange = (...args: readonly ScriptArg[]) => Promise<unknown>;

/** Shared state of targets on one Redis, and its live processes; read and written by one script. */
export class RedisTargetHealth implements TargetHealthStore {
  constructor(private readonly options: RedisTargetHealthOptions) {
    options.client.defineCommand(COMMAND, { numberOfKeys: 2, lua: exchangeHealth });
  }

  async exchange(reports: readonly HealthReport[]): Promise<readonly SharedHealth[]> {
    const { client, namespace = 'llm0', owner, clock, peers } = this.options;
    if (client.status === 'wait') await client.connect();
    const args: ScriptArg[] = [clock?.() ?? '', owner, PROBE_LEASE_MS, HALF_OPEN_KEPT_MS, MAX_SHARED_TARGETS];
    args.push(peers?.isNeeded === true ? LIVE_MS : '');
    for (const report of reports) args.push(...encodeReport(report));
    const run = (client as unknown as Record<string, Exchange>)[COMMAND] as Exchange;
    const keys = [`${namespace}:{health}`, `${namespace}:{health}:processes`];
    const reply = (await run.call(client, ...keys, ...args)) as readonly (readonly unknown[])[];
    const [[count, index] = [1, 0], ...rows] = reply;
    peers?.note(Number(count), Number(index));
    return rows.map(decodeRow);
  }

  close(): void {
    this.options.client.disconnect();
  }
}

function encodeReport(report: HealthReport): readonly [string, string, number, number] {
  const forMs = 'forMs' in report ? report.forMs : 0;
  return [report.type, report.target, forMs, report.type === 'open' ? report.trips : 0];
}

function decodeRow([target, open, trips, cool, probe]: readonly unknown[]): SharedHealth {
  return {
    target: String(target),
    openForMs: Number(open) < 0 ? undefined : Number(open),
    trips: Number(trips),
    coolForMs: Number(cool),
    probeForMs: Number(probe),
  };
}
