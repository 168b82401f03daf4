import type { PricedModel } from '@llm0/core/pricing/price-book';
import { and, asc, eq, isNull, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { modelPricing } from '../../schema/model-pricing';
import { getSetting, putSetting } from '../settings';

/** A price with whether an operator wrote it. */
export interface StoredPrice extends PricedModel {
  readonly edited: boolean;
  readonly updatedAtMs: number;
}

export interface ModelPath {
  readonly provider: string;
  readonly model: string;
}

const SEED_HASH_KEY = 'price_seed_hash';

type Row = typeof modelPricing.$inferSelect;

function toStored(row: Row): StoredPrice {
  return {
    provider: row.provider,
    model: row.model,
    mode: row.mode,
    prices: row.prices,
    contextWindow: row.contextWindow ?? undefined,
    maxOutputTokens: row.maxOutputTokens ?? undefined,
    capabilities: row.capabilities,
    deprecationDate: row.deprecationDate ?? undefined,
    source: row.source ?? undefined,
    edited: row.edited,
    updatedAtMs: row.updatedAtMs,
  };
}

/** All prices by provider and model, for the price book. */
export async function listPrices(db: Db): Promise<readonly StoredPrice[]> {
  const rows = await db
    .select()
    .from(modelPricing)
    .where(isNull(modelPricing.deletedAtMs))
    .orderBy(asc(modelPricing.provider), asc(modelPricing.model));
  return rows.map(toStored);
}

export async function getPrice(db: Db, path: ModelPath): Promise<StoredPrice | null> {
  const [row] = await db
    .select()
    .from(modelPricing)
    .where(and(at(path), isNull(modelPricing.deletedAtMs)));
  return row === undefined ? null : toStored(row);
}

/** Writes an operator's price; the seed never touches the row again. */
export async function putPrice(db: Db, price: PricedModel): Promise<StoredPrice> {
  const columns = {
    mode: price.mode,
    prices: price.prices,
    contextWindow: price.contextWindow ?? null,
    maxOutputTokens: price.maxOutputTokens ?? null,
    capabilities: price.capabilities,
    deprecationDate: price.deprecationDate ?? null,
    source: price.source ?? null,
    edited: true,
    deletedAtMs: null,
  };
  const [row] = await db
    .insert(modelPricing)
    .values({ provider: price.provider, model: price.model, ...columns })
    .onConflictDoUpdate({
      target: [modelPricing.provider, modelPricing.model],
      set: { ...columns, updatedAtMs: sql`now()` },
    })
    .returning();
  if (row === undefined) throw new Error('upsert into model_pricing returned no row');
  return toStored(row);
}

/** Takes the price out of force for good (the seed does not bring it back). null when there was none. */
export async function deletePrice(db: Db, path: ModelPath): Promise<StoredPrice | null> {
  const [row] = await db
    .update(modelPricing)
    .set({ deletedAtMs: sql`now()`, edited: true, updatedAtMs: sql`now()` })
    .where(and(at(path), isNull(modelPricing.deletedAtMs)))
    .returning();
  return row === undefined ? null : toStored(row);
}

/**
 * Brings the shipped prices in when `hash` differs from the last seed's: adds, updates and removes rows, but never one
 * an operator wrote or deleted. Returns whether anything was written.
 */
export async function seedPrices(db: Db, models: readonly PricedModel[], hash: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(7107330002)`);
    if ((await getSetting(tx, SEED_HASH_KEY)) === hash) return false;
    await tx.execute(sql`
      insert into model_pricing (provider, model, mode, prices, context_window, max_output_tokens, capabilities,
        deprecation_date, source)
      select r.provider, r.model, r.mode, r.prices, r."contextWindow", r."maxOutputTokens",
        coalesce(r.capabilities, '[]'), r."deprecationDate", r.source
      from jsonb_to_recordset(${JSON.stringify(models)}::jsonb) as r(provider text, model text, mode text, prices jsonb,
        "contextWindow" bigint, "maxOutputTokens" bigint, capabilities jsonb, "deprecationDate" text, source text)
      on conflict (provider, model) do update set mode = excluded.mode, prices = excluded.prices,
        context_window = excluded.context_window, max_output_tokens = excluded.max_output_tokens,
        capabilities = excluded.capabilities, deprecation_date = excluded.deprecation_date, source = excluded.source,
        updated_at = now()
      where not model_pricing.edited`);
    await tx.execute(sql`
      delete from model_pricing p where not p.edited and not exists (
        select 1 from jsonb_to_recordset(${JSON.stringify(models.map(({ provider, model }) => ({ provider, model })))}::jsonb)
          as r(provider text, model text)
        where r.provider = p.provider and r.model = p.model)`);
    await putSetting(tx, SEED_HASH_KEY, hash);
    return true;
  });
}

const at = (path: ModelPath) => and(eq(modelPricing.provider, path.provider), eq(modelPricing.model, path.model));
