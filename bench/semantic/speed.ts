// `bun bench/semantic/speed.ts [--entries 1000,100000] [--stores real|embedded]`: how long a semantic hit takes, by number
// of entries, and what look-ups cost those who only ask the exact cache. Starts and fills everything by itself.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { connectDatabase } from '@llm0/drizzle/client';
import { callAdmin } from '@llm0/testing/stores/start-gateway';
import { askChat } from '../load/ask-chat';
import { percentilesOf } from '../load/latencies';
import { respace } from '../load/make-request';
import { parseOptions } from '../options';
import { show } from '../report/render-table';
import { startBench } from '../start-bench';

const { values: options } = parseArgs({
  options: {
    entries: { type: 'string', default: '1000,100000' },
    stores: { type: 'string', default: 'real' },
  },
});

const QUESTION =
  'What are the steps to renew a lost passport for a child at the embassy in Madrid before the summer holidays?';
const HITS = 300;
const SIDE_SECONDS = 8;
const SIDE_PER_SECOND = 50;

interface World {
  readonly url: string;
  readonly apiKey: string;
  readonly sql: ReturnType<typeof connectDatabase>['client'];
}

const SPACINGS = 3 ** (QUESTION.split(' ').length - 1);

/** The same question with other spaces between its words: never an exact hit, and always the same vector. */
function reword(): string {
  return respace(QUESTION, Math.floor(Math.random() * SPACINGS));
}

async function ask({ url, apiKey }: World, text: string): Promise<{ ms: number; cache: string; overheadMs: number }> {
  const startMs = performance.now();
  const { status, headers } = await askChat(url, apiKey, text);
  return {
    ms: performance.now() - startMs,
    cache: headers.get('x-cache-hit') ?? String(status),
    overheadMs: Number(headers.get('x-overhead-ms')),
  };
}

function percentile(values: readonly number[], name: 'p50' | 'p95' | 'p99'): string {
  return show(percentilesOf(values)?.[name] ?? 0, 1);
}

/** Copies of the one entry with vectors of their own, until there are `total`; in the same group, so that all compete. */
async function fill({ sql }: World, total: number): Promise<void> {
  const [row] = await sql.unsafe(`select count(*)::int as n from semantic_cache`);
  const missing = total - Number(row?.n ?? 0);
  await sql.unsafe(`drop index if exists semantic_cache_hnsw_384`);
  for (let done = 0; done < missing; done += 5000) {
    const count = Math.min(5000, missing - done);
    await sql.unsafe(`
      insert into semantic_cache (project_id, cache_key, fingerprint, provider, model, dimensions, embedding,
        original_prompt, prompt_tokens, completion_tokens, cached_response, expires_at)
      select project_id, 'copy ' || ${total} || ' ' || (${done} + i), fingerprint, provider, model, dimensions,
        (select array_agg(random() - 0.5 + 0 * d) from generate_series(1, 384) d where i > 0)::vector, 'copy', 0, 0, cached_response,
        now() + interval '1 day'
      from (select * from semantic_cache where cache_key not like 'copy%' limit 1) one, generate_series(1, ${count}) i`);
  }
  await sql.unsafe(`set maintenance_work_mem = '512MB'`).catch(() => {});
  await sql.unsafe(`create index if not exists semantic_cache_hnsw_384 on semantic_cache
    using hnsw ((embedding::vector(384)) vector_cosine_ops) where dimensions = 384`);
  await sql.unsafe(`analyze semantic_cache`);
}

async function measureHits(world: World, entries: number): Promise<void> {
  for (let i = 0; i < 20; i++) await ask(world, reword());
  const answers = [];
  for (let i = 0; i < HITS; i++) answers.push(await ask(world, reword()));
  const hits = answers.filter(({ cache }) => cache === 'semantic');
  const ms = hits.map((hit) => hit.ms);
  const overhead = hits.map((hit) => hit.overheadMs);
  console.log(
    `| ${options.stores} | ${entries} | ${hits.length}/${HITS} | ${percentile(ms, 'p50')} | ${percentile(ms, 'p95')} | ${percentile(overhead, 'p50')} | ${percentile(overhead, 'p95')} |`,
  );
}

/** Exact hits one after the other, while semantic look-ups come at a steady rate or not. */
async function measureNeighbours(world: World, perSecond: number): Promise<string> {
  const endMs = performance.now() + SIDE_SECONDS * 1000;
  let running = true;
  const side = (async () => {
    while (running && perSecond > 0) {
      void ask(world, reword());
      await Bun.sleep(1000 / perSecond);
    }
  })();
  const ms: number[] = [];
  while (performance.now() < endMs) {
    ms.push((await ask(world, QUESTION)).ms);
    await Bun.sleep(2);
  }
  running = false;
  await side;
  return `p50 ${percentile(ms, 'p50')} ms, p95 ${percentile(ms, 'p95')} ms, p99 ${percentile(ms, 'p99')} ms (${ms.length} exact hits)`;
}

const bench = await startBench(parseOptions(['--stores', options.stores]));
try {
  const { gateway, targets, stores } = bench;
  const apiKey = targets.find(({ kind }) => kind === 'gateway')?.keys.semantic;
  if (gateway === undefined || apiKey === undefined) throw new Error('no gateway to measure');
  const address =
    stores === undefined ? { socketPath: join(gateway.dataDir, 'postgres.sock') } : { url: stores.databaseUrl };
  const database = connectDatabase(address, { maxConnections: 1 });
  const world: World = { url: gateway.url, apiKey, sql: database.client };
  await ask(world, QUESTION);
  for (let i = 0; i < 100; i++) {
    const stats = await callAdmin<{ semantic_entries: number }>(gateway, '/cache/stats');
    if (stats.semantic_entries > 0) break;
    await Bun.sleep(100);
  }
  console.log('| stores | entries | semantic hits | p50 ms | p95 ms | overhead p50 ms | overhead p95 ms |');
  console.log('|---|---|---|---|---|---|---|');
  for (const entries of options.entries.split(',').map(Number)) {
    await fill(world, entries);
    // Sizes of groups are remembered for a minute.
    if (entries > 5000) await Bun.sleep(61_000);
    await measureHits(world, entries);
  }
  console.log(`\nexact hits alone: ${await measureNeighbours(world, 0)}`);
  console.log(
    `beside ${SIDE_PER_SECOND} semantic look-ups a second: ${await measureNeighbours(world, SIDE_PER_SECOND)}`,
  );
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  const lag = metrics
    .split('\n')
    .filter((line) => /llm0_event_loop_lag_ms_bucket\{le="(?:5|10|25|\+Inf)"\}/.test(line));
  console.log(`\n${lag.join('\n')}`);
  await database.close();
} finally {
  await bench.stop();
}
