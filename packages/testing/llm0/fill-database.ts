import { join } from 'node:path';
import { hashSecret } from '@llm0/core/keys/api-key';
import postgres from 'postgres';

export const PROJECT = '10000000-0000-4000-8000-000000000001';
const CAPPED = '10000000-0000-4000-8000-000000000002';
/** The usual form, and one that an operator inserted by hand. */
export const LEGACY_KEY = `llm0_live_${'5e'.repeat(32)}`;
export const ODD_KEY = 'team-alpha-key-0123456789';
/** Nobody has used it yet; its hash is as slow as they make them. */
export const GUESSED_KEY = `llm0_live_${'9a'.repeat(32)}`;
/** Of the project whose cap is nearly spent. */
export const CAPPED_KEY = `llm0_live_${'c4'.repeat(32)}`;
export const TABLES = [
  ...['projects', 'api_keys', 'gateway_logs', 'failover_logs', 'customer_limits', 'customer_spend', 'customer_tiers'],
  ...['exact_cache', 'semantic_cache', 'model_pricing', 'system_logs'],
] as const;

/** Makes the Go project's tables in a database, with some months of use in them; `isOld`: those of its first version. */
export async function fillLlm0Database(url: string, { isOld = false } = {}): Promise<void> {
  const client = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await client.unsafe(await Bun.file(join(import.meta.dir, 'schema.sql')).text()).simple();
    await client.unsafe(DATA).simple();
    for (const [index, [key, project]] of KEYS.entries()) {
      const hash = Bun.password
        .hashSync(hashSecret(key), { algorithm: 'bcrypt', cost: key === GUESSED_KEY ? 12 : 4 })
        .replace('$2b$', '$2a$');
      await client`insert into api_keys (project_id, key_hash, key_prefix, name)
        values (${project}, ${hash}, ${`${key.slice(0, 15)}...`}, ${`key ${index}`})`;
    }
    await client`update gateway_logs l set api_key_id = (select id from api_keys k where k.project_id = l.project_id limit 1)
      where status <> 'error'`;
    if (isOld) await client.unsafe(OLDER).simple();
  } finally {
    await client.end();
  }
}

/** A digest of everything in the Go project's tables. */
export async function digestLlm0(url: string): Promise<string> {
  const client = postgres(url, { max: 1, onnotice: () => {} });
  try {
    const hash = new Bun.CryptoHasher('sha256');
    for (const table of TABLES) {
      const rows = await client.unsafe(`select to_jsonb(t)::text as row from public.${table} t order by 1`);
      hash.update(`${table} ${JSON.stringify(rows)}`);
    }
    return hash.digest('hex');
  } finally {
    await client.end();
  }
}

const KEYS = [
  [LEGACY_KEY, PROJECT],
  [ODD_KEY, PROJECT],
  [CAPPED_KEY, CAPPED],
  [GUESSED_KEY, PROJECT],
] as const;

const OLDER = `drop table customer_tiers;
  alter table customer_limits drop label_limits;
  alter table customer_spend drop spend_by_label;
  alter table projects drop default_daily_spend_limit_usd, drop default_monthly_spend_limit_usd,
    drop default_per_request_max_usd, drop default_requests_per_minute, drop default_requests_per_hour,
    drop default_requests_per_day, drop default_on_limit_behavior, drop default_downgrade_model;
  alter table projects alter monthly_cap_usd type decimal(10,2)`;

/** This month: $1.25 of 100 requests and 5 answers from a cache in the one project, $4.999 of $5 in the other. */
const DATA = `
insert into projects (id, user_id, name, monthly_cap_usd, semantic_cache_enabled, default_daily_spend_limit_usd) values
  ('${PROJECT}', gen_random_uuid(), 'Default Project', 50, true, 3), ('${CAPPED}', gen_random_uuid(), 'Nearly spent', 5, false, null);
insert into gateway_logs (project_id, model, provider, final_provider, tokens_in, tokens_out, tokens_total, cost_usd,
    latency_ms, status, customer_id, labels, created_at)
  select '${PROJECT}', 'gemini-2.0-flash', 'google', 'google', 100, 20, 120, 0.0125, 340, 'success',
    case when n % 2 = 0 then 'acme' end, '{"Feature": "chat"}',
    greatest(date_trunc('month', now() at time zone 'UTC') at time zone 'UTC', now() - n * interval '10 seconds')
  from generate_series(1, 100) n;
insert into gateway_logs (project_id, model, provider, final_provider, tokens_in, tokens_out, cost_usd, latency_ms, cache_hit,
    semantic_cache_hit, similarity_score, status, created_at)
  select '${PROJECT}', 'gpt-4o', 'openai', 'openai', 100, 20, 0.002, 5, true, n = 1, case when n = 1 then 0.97 end, 'success', now()
  from generate_series(1, 5) n;
insert into gateway_logs (project_id, model, provider, final_provider, cost_usd, status, error_message, created_at) values
  ('${PROJECT}', 'gpt-4o', 'openai', '', 0, 'error', 'openai: 500', now()),
  ('${CAPPED}', 'claude-opus-4-6', 'anthropic', 'anthropic', 4.999, 'success', null, now()),
  ('${CAPPED}', 'claude-opus-4-6', 'anthropic', 'anthropic', 7.5, 'success', null, now() - interval '40 days'),
  ('${CAPPED}', 'claude-opus-4-6', 'anthropic', 'anthropic', 9, 'success', null, now() - interval '400 days');
insert into failover_logs (project_id, request_id, original_model, original_provider, fallback_model, fallback_provider,
    trigger_reason, trigger_status_code, original_attempt_latency_ms, fallback_latency_ms, total_latency_ms, fallback_succeeded)
  values ('${PROJECT}', gen_random_uuid()::text, 'gpt-4o', 'openai', 'claude-sonnet-4-6', 'anthropic', 'rate_limit', 429, 80, 900, 980, true);
insert into customer_limits (project_id, customer_id, daily_spend_limit_usd, requests_per_day, model_limits, label_limits,
    on_limit_behavior, downgrade_model) values
  ('${PROJECT}', 'acme', 0.7, 1000, '{"gpt-4o": 50, "gpt-4o-mini": null}', '{"feature:chat": 10}', 'downgrade', 'gpt-4o-mini'),
  ('${PROJECT}', 'queued', null, null, null, null, 'queue', null);
insert into customer_spend (project_id, customer_id, date, total_spend_usd, request_count)
  values ('${PROJECT}', 'acme', current_date, 0.625, 50);
insert into customer_tiers (project_id, slug, daily_spend_limit_usd) values ('${PROJECT}', 'free', 1);
insert into exact_cache (cache_key, provider, model, cached_response, expires_at)
  values (repeat('a', 64), 'openai', 'gpt-4o', '{}', now() + interval '1 hour');
insert into semantic_cache (cache_key, provider, model, embedding, original_prompt, cached_response, expires_at)
  values (repeat('b', 64), 'openai', 'gpt-4o', array_fill(0.05, array[384])::vector, 'Hello', '{}', now() + interval '1 hour');
insert into model_pricing (provider, model, input_per_1k_tokens, output_per_1k_tokens, context_window) values
  ('openai', 'gpt-4o', 0.0025, 0.01, 128000), ('google', 'gemini-2.0-flash', 0.0001, 0.0004, 1048576),
  ('anthropic', 'claude-opus-4-6', 0.015, 0.075, 200000), ('openai', 'our-fine-tune', 0.00012345, 0.0006, 64000);
insert into system_logs (event_type, message) values ('log_cleanup', 'done');`;
