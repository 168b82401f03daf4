// What somebody who looks through the dashboard does to the latency of exact hits.
import { dashboardCalls } from '../generate/dashboard-calls';
import { generateRows } from '../generate/generate-rows';
import { withSql } from '../generate/open-sql';
import { timeCall } from '../generate/time-queries';
import type { LoadResult } from '../load/load-job';
import { show } from '../report/render-table';
import { median } from '../report/rows';
import type { BenchWorld, StartedGateway } from '../start-bench';
import { measureBeside } from './measure-beside';
import { rebuildCounters } from './rebuild-counters';
import { needRealStores, type SpecialOutcome } from './special';

const DAYS = 90;
const CALLS_PER_SECOND = 5;
/** A browser opens no more connections to one server. */
const MAX_OPEN = 6;
/** Below what any machine can do, so that waiting in line is not what is measured. */
const HITS_PER_SECOND = 200;

/** Fills the log where it has not been yet, then measures hits without and with somebody browsing. */
export async function measureBrowse(world: BenchWorld): Promise<SpecialOutcome> {
  const { gateway, stores } = needRealStores(world, 'browse');
  const isFilled = await withSql(stores.databaseUrl, async (sql, database) => {
    const [found] = await sql`select 1 from projects where name like 'bench rows %' limit 1`;
    if (found === undefined) await generateRows(database, { rows: world.options.rows, days: DAYS, nowMs: Date.now() });
    return found !== undefined;
  });
  if (!isFilled) await rebuildCounters(gateway, stores);
  return { rows: [], notes: await measureBrowsing(world) };
}

/** p99 of hits in turn with and without the dashboard's own calls over whatever the log holds. */
export async function measureBrowsing(world: BenchWorld): Promise<readonly string[]> {
  const { gateway } = needRealStores(world, 'browse');
  const rate = world.options.rate ?? HITS_PER_SECOND;
  const callsMs: number[] = [];
  const begin = async () => {
    const browser = startBrowsing(gateway, Date.now());
    return async (quiet: LoadResult, busy: LoadResult) => {
      callsMs.push(...(await browser.stop()));
      return `, ${quiet.errors + busy.errors} errors`;
    };
  };
  const { notes, ratio } = await measureBeside(world, { name: 'browse', gateway, seconds: 20, rate, begin });
  return [
    ...notes,
    `browse: p99 of ${rate} hits a second while the dashboard asks ${CALLS_PER_SECOND} times a second is ${ratio} of that ` +
      `without (must be ≤ 2×); its ${callsMs.length} calls took ${show(median(callsMs))} ms in the median, ${show(Math.max(...callsMs))} ms at most`,
  ];
}

/** Goes through all pages and ranges over and over at a steady pace. `stop` resolves to how long each call took. */
function startBrowsing(gateway: StartedGateway, nowMs: number) {
  const calls = dashboardCalls(nowMs);
  const tookMs: number[] = [];
  const open = new Set<Promise<void>>();
  let next = 0;
  const timer = setInterval(() => {
    const call = calls[next % calls.length];
    if (call === undefined || open.size >= MAX_OPEN) return;
    next++;
    const running = timeCall(gateway, call.path).then((ms) => void tookMs.push(ms));
    open.add(running);
    void running.finally(() => open.delete(running)).catch(() => {});
  }, 1000 / CALLS_PER_SECOND);
  return {
    stop: async () => {
      clearInterval(timer);
      await Promise.all(open);
      return tookMs;
    },
  };
}
