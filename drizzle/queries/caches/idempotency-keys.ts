// Without Postgres, every call throws; an unrenewed claim ends with its lease. Postgres's clock counts.
import type { ClaimOutcome, ClaimRef, IdempotencyStore } from '@llm0/core/cache/idempotency/idempotency-keys';
import { sql } from 'drizzle-orm';
import type { Db } from '../../client';

const LIFETIME = sql.raw(`interval '24 hours'`);

/** Claims and answers by `Idempotency-Key`, in `idempotency_keys`. */
export function createIdempotencyStore(db: Db): IdempotencyStore {
  return {
    claim: (ref, bodyHash, leaseMs) => claimKey(db, ref, { bodyHash, leaseMs }),
    renew: (refs, leaseMs) => renewClaims(db, refs, leaseMs),
    complete: (ref, answer) => completeClaim(db, ref, answer),
    release: (ref) => releaseClaim(db, ref),
  };
}

const leaseEnd = (leaseMs: number) => sql`now() + ${leaseMs}::int * interval '1 millisecond'`;
const isOwned = ({ apiKeyId, keyHash, owner }: ClaimRef) =>
  sql`api_key_id = ${apiKeyId}::uuid and key_hash = ${keyHash} and owner = ${owner}::uuid and state = 'pending'`;

/** Claims a key that is free, expired or abandoned. */
async function claimKey(
  db: Db,
  ref: ClaimRef,
  { bodyHash, leaseMs }: { readonly bodyHash: string; readonly leaseMs: number },
): Promise<ClaimOutcome> {
  const taken = await db.execute(sql`
    insert into idempotency_keys as k (api_key_id, key_hash, body_hash, state, owner, lease_until, expires_at)
    values (${ref.apiKeyId}::uuid, ${ref.keyHash}, ${bodyHash}, 'pending', ${ref.owner}::uuid, ${leaseEnd(leaseMs)},
      now() + ${LIFETIME})
    on conflict (api_key_id, key_hash) do update set body_hash = excluded.body_hash, state = 'pending',
      owner = excluded.owner, lease_until = excluded.lease_until, answer = null, created_at = now(),
      expires_at = excluded.expires_at
    where k.expires_at <= now() or (k.state = 'pending' and k.lease_until <= now())
    returning 1`);
  if (taken.length > 0) return { type: 'claimed' };
  const [row] = await db.execute<{ body_hash: string; state: string; answer: string | null }>(sql`
    select body_hash, state, answer from idempotency_keys
    where api_key_id = ${ref.apiKeyId}::uuid and key_hash = ${ref.keyHash}`);
  // Released in between: the next question decides.
  if (row === undefined) return { type: 'pending' };
  if (row.body_hash !== bodyHash) return { type: 'conflict' };
  return row.state === 'done' && row.answer !== null ? { type: 'done', answer: row.answer } : { type: 'pending' };
}

async function renewClaims(db: Db, refs: readonly ClaimRef[], leaseMs: number): Promise<void> {
  await db.execute(sql`
    update idempotency_keys k set lease_until = ${leaseEnd(leaseMs)}
    from jsonb_to_recordset(${JSON.stringify(refs)}::jsonb) as r("apiKeyId" uuid, "keyHash" text, owner uuid)
    where k.api_key_id = r."apiKeyId" and k.key_hash = r."keyHash" and k.owner = r.owner and k.state = 'pending'`);
}

/** Changes nothing if another request took the claim. */
async function completeClaim(db: Db, ref: ClaimRef, answer: string): Promise<void> {
  await db.execute(sql`update idempotency_keys set state = 'done', answer = ${answer} where ${isOwned(ref)}`);
}

async function releaseClaim(db: Db, ref: ClaimRef): Promise<void> {
  await db.execute(sql`delete from idempotency_keys where ${isOwned(ref)}`);
}
