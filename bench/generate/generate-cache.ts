import type { Sql } from './open-sql';

const BATCH = 100_000;

/** Entries of the warm tier, written over the last days and good for days to come; of the projects of `generateRows`. */
export async function generateCache(sql: Sql, entries: number, days: number): Promise<void> {
  for (let done = 0; done < entries; done += BATCH) {
    const some = Math.min(BATCH, entries - done);
    await sql`
      insert into exact_cache (project_id, cache_key, provider, model, prompt_tokens, completion_tokens, cached_response,
        created_at, expires_at)
      select p.ids[1 + i % array_length(p.ids, 1)], encode(sha256(gen_random_uuid()::text::bytea), 'hex'), 'openai',
        'gpt-4o-mini', 100, 50, jsonb_build_object('v', 1, 'provider', 'openai', 'model', 'gpt-4o-mini', 'costNanoUsd', 1000,
          'response', jsonb_build_object('choices', jsonb_build_array(jsonb_build_object('text', repeat(md5(i::text), 12))))),
        now() - random() * make_interval(days => ${days}::int), now() + interval '1 day' + random() * interval '7 days'
      from generate_series(1, ${some}::int) as i,
        (select array_agg(id) as ids from projects where name like 'bench rows %') as p`;
  }
  await sql`analyze exact_cache`;
}
