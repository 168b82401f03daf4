// Without Postgres, secrets can neither be made nor used. Postgres's clock counts.
import type { RealtimeSecrets, StoredSecret } from '@llm0/core/realtime/realtime-secrets';
import { sql } from 'drizzle-orm';
import type { Db } from '../../client';

/** Secrets by their hash, in `realtime_secrets`. */
export function createRealtimeSecrets(db: Db): RealtimeSecrets {
  return {
    async keep(hash, { apiKeyId, model, session, headers }, seconds) {
      const [row] = await db.execute<{ until: string }>(sql`
        insert into realtime_secrets (secret_hash, api_key_id, model, session, headers, expires_at)
        values (${hash}, ${apiKeyId}::uuid, ${model}, ${JSON.stringify(session)}, ${JSON.stringify(headers)},
          now() + ${seconds}::int * interval '1 second')
        returning extract(epoch from expires_at)::text as until`);
      return Math.floor(Number(row?.until));
    },
    async find(hash) {
      const [row] = await db.execute<Row>(sql`
        select s.model, s.session, s.headers, s.api_key_id as "apiKeyId", k.key_hash as "keyHash"
        from realtime_secrets s join api_keys k on k.id = s.api_key_id
        where s.secret_hash = ${hash} and s.expires_at > now() and k.deleted_at is null`);
      if (row === undefined) return undefined;
      const { session, headers, ...rest } = row;
      return {
        ...rest,
        session: JSON.parse(session) as StoredSecret['session'],
        headers: JSON.parse(headers) as StoredSecret['headers'],
      };
    },
  };
}

type Row = Record<'model' | 'session' | 'headers' | 'apiKeyId' | 'keyHash', string>;
