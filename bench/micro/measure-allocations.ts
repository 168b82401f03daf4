import { join } from 'node:path';
import { RUNTIME_ENVIRONMENT } from '../../apps/gateway/bin/runtime-environment';

export interface AllocationResult {
  readonly name: string;
  /** Kilobytes of heap that a request takes, all of them garbage soon. */
  readonly kilobytes: number;
  /** Microseconds a request in which the collector stops everything. */
  readonly stopUs: number;
  /** CPU microseconds of the main thread. */
  readonly mainUs: number;
}

const REQUESTS = 20_000;

/** What requests cost in the pipeline alone: decision and settlement are not counted. */
export async function measureAllocations(): Promise<readonly AllocationResult[]> {
  const results: AllocationResult[] = [];
  for (const kind of ['miss', 'hit', 'stream']) {
    const child = Bun.spawn(
      [process.execPath, '--no-env-file', join(import.meta.dir, 'allocations-child.ts'), kind, String(REQUESTS)],
      {
        env: { ...process.env, ...RUNTIME_ENVIRONMENT, BUN_JSC_logGC: '1' },
        stdout: 'pipe',
        stderr: 'pipe',
      },
    );
    // The collector's lines come by either way.
    const [out, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    if ((await child.exited) !== 0) throw new Error(`the child failed: ${errors.slice(-2000)}`);
    const log = errors.includes('START') ? errors : out;
    const mainUs = Number(/^MAIN (\S+)$/m.exec(errors)?.[1] ?? 0);
    results.push({ name: `a ${kind}`, ...readCollections(log.split('MARK')[1] ?? log, REQUESTS), mainUs });
  }
  return results;
}

/** `[GC<…>: START M 89836kb => EdenCollection, … => 47946kb, p=2.93ms (max 35.4), cycle 2.89ms END]` */
const STEP = /START \S (\d+)kb => |=> (\d+)kb, p=([\d.]+)ms/g;

/** Grown between the end of one collection and the start of the next. */
export function readCollections(log: string, requests: number): Pick<AllocationResult, 'kilobytes' | 'stopUs'> {
  let left: number | undefined;
  let grown = 0;
  let stopMs = 0;
  for (const [, before, after, pauseMs] of log.matchAll(STEP)) {
    if (before !== undefined && left !== undefined) grown += Math.max(0, Number(before) - left);
    if (after !== undefined) left = Number(after);
    if (pauseMs !== undefined) stopMs += Number(pauseMs);
  }
  return { kilobytes: grown / requests, stopUs: (1000 * stopMs) / requests };
}
