import { connectDatabase } from '@llm0/drizzle/client';
import { migrateDatabase } from '@llm0/drizzle/migrate';
import { generateRows } from './.r10-gen';

const { url } = await Bun.file('/tmp/r10-pg.json').json();
const d = connectDatabase({ url }, { maxConnections: 4 });
console.log(await migrateDatabase(d.client, { onWarning: console.warn }));
const t = performance.now();
await generateRows(d.client, {
  rows: 10_000_000,
  days: 91,
  nowMs: Date.now(),
  onDay: (n) => console.log(n, ((performance.now() - t) / 1000).toFixed(0)),
});
await d.client.unsafe(
  'vacuum analyze rollup_hour, rollup_day, rollup_latency_hour, rollup_latency_day, customer_spend, rollup_error, rollup_minute',
);
await d.close();
console.log('done');
