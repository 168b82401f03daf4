import { BENCH_KEY_SQL } from '../load/bench-keys';
import type { Sql } from './open-sql';

/** Dollars: far from binding, so that every limit is checked and none refuses. */
const NEVER_REACHED = 1_000_000;

/** As many API keys of a project as asked for, numbered from 0, each with a customer whose limits never bind. */
export async function generateKeys(sql: Sql, projectId: string, count: number): Promise<void> {
  await sql`
    insert into api_keys (project_id, name, key_hash, key_prefix, budget_usd)
    select ${projectId}::uuid, 'bench ' || i, encode(sha256(convert_to(secret, 'UTF8')), 'hex'), left(secret, 16),
      ${NEVER_REACHED}
    from (select i, ${sql.unsafe(BENCH_KEY_SQL)} as secret from generate_series(0, ${count - 1}::int) as i) as keys
    on conflict (key_hash) do nothing`;
  await sql`
    insert into customer_limits (project_id, customer_id, daily_spend_limit_usd, monthly_spend_limit_usd,
      requests_per_day)
    select ${projectId}::uuid, 'bench-customer-' || i, ${NEVER_REACHED}, ${NEVER_REACHED}, ${NEVER_REACHED}
    from generate_series(0, ${count - 1}::int) as i
    on conflict (project_id, customer_id) do nothing`;
  await sql`analyze api_keys, customer_limits`;
}
