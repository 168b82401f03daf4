import postgres from 'postgres';

/** Rows of the Go project's tables, as its `schema.sql` has them; older versions lack some columns. Money is decimal text. */
export interface SourceProject extends Record<string, unknown> {
  readonly id: string;
  readonly name: string;
  readonly monthly_cap_usd: string | null;
  readonly cache_enabled: boolean | null;
  readonly semantic_cache_enabled: boolean | null;
  readonly semantic_threshold: number | null;
  readonly cache_ttl_seconds: number | null;
  readonly is_active: boolean | null;
  readonly created_ms: number;
  /** True if it limits customers without limits of their own. */
  readonly has_defaults: boolean;
}

export interface SourceKey extends Record<string, unknown> {
  readonly id: string;
  readonly project_id: string;
  readonly name: string;
  readonly key_hash: string;
  readonly key_prefix: string;
  readonly rate_limit_per_minute: number | null;
  readonly is_active: boolean | null;
  readonly created_ms: number;
}

export interface SourceLimits extends Record<string, unknown> {
  readonly project_id: string;
  readonly customer_id: string;
  readonly daily_spend_limit_usd: string | null;
  readonly monthly_spend_limit_usd: string | null;
  readonly per_request_max_usd: string | null;
  readonly requests_per_minute: number | null;
  readonly requests_per_hour: number | null;
  readonly requests_per_day: number | null;
  readonly model_limits: Readonly<Record<string, number | null>> | null;
  readonly on_limit_behavior: string | null;
  readonly downgrade_model: string | null;
  readonly has_label_limits: boolean;
}

export interface SourcePrice extends Record<string, unknown> {
  readonly provider: string;
  readonly model: string;
  /** Pico-USD per token. */
  readonly input: string | null;
  readonly output: string | null;
  readonly context_window: number | null;
}

export interface SourceLog extends Record<string, unknown> {
  readonly id: string;
  readonly project_id: string;
  readonly api_key_id: string | null;
  readonly model: string;
  readonly provider: string;
  readonly final_provider: string | null;
  readonly tokens_in: number | null;
  readonly tokens_out: number | null;
  readonly cost_usd: string | null;
  readonly latency_ms: number | null;
  readonly cache_hit: boolean | null;
  readonly semantic_cache_hit: boolean | null;
  readonly similarity_score: number | null;
  readonly failover_count: number | null;
  readonly status: string | null;
  readonly error_message: string | null;
  readonly customer_id: string | null;
  readonly labels: Readonly<Record<string, string>> | null;
  readonly created_ms: number;
}

export interface SourceFailover extends Record<string, unknown> {
  readonly id: string;
}

/** The requested object doesn't exist; the message names it. */
export class NoSourceError extends Error {}

const MS = (column: string) => `(extract(epoch from coalesce(${column}, now())) * 1000)::float8`;

/** The Go project's tables in a database; reads only. Throws `NoSourceError` where they are not. */
export class Llm0Source {
  private constructor(private readonly client: postgres.Sql) {}

  static async open(url: string): Promise<Llm0Source> {
    const client = postgres(url, { max: 2, connect_timeout: 5, onnotice: () => {}, fetch_types: false });
    try {
      const [found] = await client<{ there: boolean }[]>`select exists (
        select from pg_attribute where attrelid = to_regclass('projects') and attname = 'spend_reset_at') as there`;
      if (found?.there === true) return new Llm0Source(client);
      throw new NoSourceError(
        'there are no tables of llm0-gateway; --from takes the URL of the database that has them',
      );
    } catch (error) {
      await client.end({ timeout: 2 });
      throw error;
    }
  }

  projects(): Promise<readonly SourceProject[]> {
    return this.client.unsafe<SourceProject[]>(`
      select id, name, monthly_cap_usd::text, cache_enabled, semantic_cache_enabled, semantic_threshold::float8,
        cache_ttl_seconds, is_active, ${MS('created_at')} as created_ms,
        exists (select from jsonb_each(to_jsonb(p)) where key like 'default\\_%' and key <> 'default_on_limit_behavior'
          and value <> 'null') as has_defaults
      from projects p order by created_at, id`);
  }

  keys(): Promise<readonly SourceKey[]> {
    return this.client.unsafe<SourceKey[]>(`
      select id, project_id, name, key_hash, key_prefix, rate_limit_per_minute, is_active, ${MS('created_at')} as created_ms
      from api_keys order by created_at, id`);
  }

  limits(): Promise<readonly SourceLimits[]> {
    return this.client.unsafe<SourceLimits[]>(`
      select project_id, customer_id, daily_spend_limit_usd::text, monthly_spend_limit_usd::text, per_request_max_usd::text,
        requests_per_minute, requests_per_hour, requests_per_day, model_limits, on_limit_behavior, downgrade_model,
        coalesce(to_jsonb(l) -> 'label_limits', 'null') not in ('null', '{}') as has_label_limits
      from customer_limits l order by project_id, customer_id`);
  }

  prices(): Promise<readonly SourcePrice[]> {
    return this.client.unsafe<SourcePrice[]>(`
      select provider, model, (input_per_1k_tokens * 1000000000)::bigint::text as input,
        (output_per_1k_tokens * 1000000000)::bigint::text as output, context_window
      from model_pricing order by provider, model`);
  }

  /** Counts tiers: plans for customers in newer versions. */
  async countTiers(): Promise<number> {
    const [table] = await this.client`select to_regclass('customer_tiers') is not null as there`;
    if (table?.there !== true) return 0;
    const [row] = await this.client<{ n: number }[]>`select count(*)::int as n from customer_tiers`;
    return row?.n ?? 0;
  }

  async countLogs(fromMs: number): Promise<number> {
    const [row] = await this.client<{ n: number }[]>`
      select count(*)::int as n from gateway_logs where project_id is not null and created_at >= to_timestamp(${fromMs / 1000}::float8)`;
    return row?.n ?? 0;
  }

  /** Spend of each project since then, as decimal text; cached answers are free. */
  async spentSince(fromMs: number): Promise<ReadonlyMap<string, string>> {
    const rows = await this.client<{ project_id: string; usd: string }[]>`
      select project_id, sum(cost_usd)::text as usd from gateway_logs
      where project_id is not null and created_at >= to_timestamp(${fromMs / 1000}::float8)
        and not coalesce(cache_hit, false) and not coalesce(semantic_cache_hit, false)
      group by 1`;
    return new Map(rows.map((row) => [row.project_id, row.usd ?? '0']));
  }

  /** Oldest first, some hundred at a time. */
  async *logs(fromMs: number, batch = 500): AsyncGenerator<readonly SourceLog[]> {
    const cursor = this.client<SourceLog[]>`
      select id, project_id, api_key_id, model, provider, final_provider, tokens_in, tokens_out, cost_usd::text, latency_ms,
        cache_hit, semantic_cache_hit, similarity_score::float8, failover_count, status, error_message, customer_id, labels,
        (extract(epoch from created_at) * 1000)::float8 as created_ms
      from gateway_logs where project_id is not null and created_at >= to_timestamp(${fromMs / 1000}::float8)
      order by created_at, id`.cursor(batch);
    for await (const rows of cursor) yield rows;
  }

  /** One JSON text per row, with the columns common to both projects. */
  async *failovers(fromMs: number, batch = 500): AsyncGenerator<readonly string[]> {
    const cursor = this.client<{ row: string }[]>`
      select to_jsonb(f)::text as row from failover_logs f
      where project_id is not null and created_at >= to_timestamp(${fromMs / 1000}::float8)
        and request_id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
      order by created_at, id`.cursor(batch);
    for await (const rows of cursor) yield rows.map(({ row }) => row);
  }

  close(): Promise<void> {
    return this.client.end({ timeout: 2 });
  }
}
