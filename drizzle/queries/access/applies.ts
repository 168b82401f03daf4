import { and, asc, eq, getTableColumns, gt, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { applyLease, managedResources } from '../../schema/operations';
import type { AuditEntry } from './audit-trail';

export type StoredLease = Readonly<Omit<typeof applyLease.$inferSelect, 'onlyOne'>>;
export type ManagedResource = Readonly<typeof managedResources.$inferSelect>;

const { onlyOne: _onlyOne, ...leaseColumns } = getTableColumns(applyLease);
const isLive = gt(applyLease.expiresAtMs, sql`clock_timestamp()`);
const endOf = (leaseMs: number) => sql`clock_timestamp() + ${leaseMs}::int * interval '1 ms'`;

/** Lets an apply begin; null while another one runs. */
export async function takeLease(
  db: Db,
  { leaseMs, ...lease }: Omit<StoredLease, 'expiresAtMs'> & { readonly leaseMs: number },
): Promise<StoredLease | null> {
  const values = { ...lease, expiresAtMs: endOf(leaseMs) };
  const [row] = await db
    .insert(applyLease)
    .values(values)
    .onConflictDoUpdate({ target: applyLease.onlyOne, set: values, setWhere: sql`not (${isLive})` })
    .returning(leaseColumns);
  return row ?? null;
}

/** null if the lease ended, or another apply has it. */
export async function renewLease(db: Db, id: string, leaseMs: number): Promise<StoredLease | null> {
  const [row] = await db
    .update(applyLease)
    .set({ expiresAtMs: endOf(leaseMs) })
    .where(and(eq(applyLease.id, id), isLive))
    .returning(leaseColumns);
  return row ?? null;
}

export async function endLease(db: Db, id: string): Promise<void> {
  await db.delete(applyLease).where(eq(applyLease.id, id));
}

/** The running apply. */
export async function findLease(db: Db): Promise<StoredLease | null> {
  const [row] = await db.select(leaseColumns).from(applyLease).where(isLive);
  return row ?? null;
}

/** What manages a resource. */
export async function listManagers(db: Db, of: Pick<ManagedResource, 'resource' | 'resourceId'>) {
  const { resource, resourceId, applyName } = managedResources;
  const isMeant = and(eq(resource, of.resource), eq(resourceId, of.resourceId));
  return db.select().from(managedResources).where(isMeant).orderBy(asc(applyName));
}

/** By resource and id, after a place in that order. */
export async function listManaged(
  db: Db,
  applyName: string,
  { limit, after }: { readonly limit: number; readonly after?: readonly [resource: string, resourceId: string] },
): Promise<readonly ManagedResource[]> {
  const { resource, resourceId } = managedResources;
  const place = after && sql`(${resource}, ${resourceId}) > (${after[0]}::text, ${after[1]}::text)`;
  return db
    .select()
    .from(managedResources)
    .where(and(eq(managedResources.applyName, applyName), place))
    .orderBy(asc(resource), asc(resourceId))
    .limit(limit);
}

/** What manages resources of one kind: by id and name of the apply, after a place in that order. */
export async function listManagersOfKind(
  db: Db,
  kind: string,
  { limit, after }: { readonly limit: number; readonly after?: readonly [resourceId: string, applyName: string] },
): Promise<readonly ManagedResource[]> {
  const { resource, resourceId, applyName } = managedResources;
  const place = after && sql`(${resourceId}, ${applyName}) > (${after[0]}::text, ${after[1]}::text)`;
  return db
    .select()
    .from(managedResources)
    .where(and(eq(resource, kind), place))
    .orderBy(asc(resourceId), asc(applyName))
    .limit(limit);
}

type Changed = Pick<AuditEntry, 'actor' | 'action' | 'resource' | 'resourceId'>;

/** The apply that makes a change. */
export interface ApplyingChange {
  readonly leaseId: string;
  /** Of the secrets that the change brings. */
  readonly secretDigest?: string;
}

/**
 * Notes a change of a resource in the transaction of the change. A name may be used again after a deletion, so a new
 * resource belongs to nobody else. False if the apply has no lease any more.
 */
export async function noteManaged(tx: Db, changed: Changed, apply: ApplyingChange | undefined): Promise<boolean> {
  const { actor, action, resource, resourceId } = changed;
  if (resourceId === null) return true;
  const isNew = action === 'create';
  const ofResource = sql`m.resource = ${resource} and m.resource_id = ${resourceId}`;
  if (apply === undefined) {
    await tx.execute(isNew || action === 'delete' ? gone(ofResource) : changedBy(actor, ofResource));
    return true;
  }
  const ofOthers = sql`${ofResource} and m.apply_name <> (select apply_name from lease)`;
  const noted =
    action === 'delete'
      ? sql`${gone(ofResource)} and exists (select 1 from lease) returning 1`
      : sql`insert into managed_resources as kept (apply_name, resource, resource_id, is_created, secret_digest)
          select apply_name, ${resource}::text, ${resourceId}::text, ${isNew}::boolean, ${apply.secretDigest ?? null}::text
          from lease
          on conflict (apply_name, resource, resource_id) do update set applied_at = now(), changed_at = null,
            changed_by = null,
            is_created = kept.is_created or excluded.is_created,
            secret_digest = coalesce(excluded.secret_digest, kept.secret_digest)
          returning 1`;
  const others = action === 'delete' ? sql`select 1` : isNew ? gone(ofOthers) : changedBy(actor, ofOthers);
  const [row] = await tx.execute<{ has_lease: boolean }>(sql`
    with lease as (
      select apply_name from apply_lease where id = ${apply.leaseId}::uuid and expires_at > clock_timestamp() for share
    ), others as (${others}), noted as (${noted})
    select exists (select 1 from lease) as has_lease`);
  return row?.has_lease === true;
}

const gone = (condition: SQL) => sql`delete from managed_resources m where ${condition}`;

const changedBy = (actor: string, condition: SQL) =>
  sql`update managed_resources m set secret_digest = null, changed_at = now(), changed_by = ${actor}::text
    where ${condition}`;
