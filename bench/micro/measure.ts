import { median } from '../report/rows';

/** What one call of a function costs. */
export interface MicroCase {
  readonly name: string;
  run(): unknown;
}

export interface MicroResult {
  readonly name: string;
  /** Microseconds of a call: the best batch, and the median one. */
  readonly minUs: number;
  readonly medianUs: number;
}

export interface MicroOptions {
  readonly nowMs: () => number;
  /** Until the code is compiled. */
  readonly warmUpMs: number;
  readonly batches: number;
  readonly batchMs: number;
}

export const MICRO_OPTIONS: MicroOptions = {
  nowMs: () => performance.now(),
  warmUpMs: 300,
  batches: 15,
  batchMs: 30,
};

/** Keeps results from being optimized away. */
let sink: unknown;

/** Times batches of calls, each long enough for the clock; the case that is measured gets hot first. */
export function measureMicro({ name, run }: MicroCase, options: MicroOptions): MicroResult {
  const { nowMs, warmUpMs, batches, batchMs } = options;
  const calls = Math.max(1, Math.ceil((warmUp(run, nowMs, warmUpMs) / warmUpMs) * batchMs));
  const perCallUs: number[] = [];
  for (let batch = 0; batch < batches; batch++) {
    const startMs = nowMs();
    for (let call = 0; call < calls; call++) sink = run();
    perCallUs.push(((nowMs() - startMs) * 1000) / calls);
  }
  return { name, minUs: Math.min(...perCallUs), medianUs: median(perCallUs) };
}

/** How many calls fitted into the time. */
function warmUp(run: () => unknown, nowMs: () => number, warmUpMs: number): number {
  const endMs = nowMs() + warmUpMs;
  let calls = 0;
  do {
    sink = run();
    calls += 1;
  } while (nowMs() < endMs);
  return calls;
}

/** The last result of a measured call. */
export const lastResult = (): unknown => sink;
