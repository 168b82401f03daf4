import { type Histogram, packHistogram, unpackHistograms } from '@llm0/core/logs/histogram';
import { sql } from 'drizzle-orm';
import { customType } from 'drizzle-orm/pg-core';
import { nanoFromUsd, usdFromNano } from '../money';

/** `numeric(20,9)` in Postgres, integer nano-USD in the program. */
export const nanoUsd = customType<{ data: number; driverData: string }>({
  dataType: () => 'numeric(20,9)',
  toDriver: usdFromNano,
  fromDriver: nanoFromUsd,
});

/** A packed histogram: see `packHistogram`. */
export const histogram = customType<{ data: Histogram; driverData: Uint8Array }>({
  dataType: () => 'bytea',
  fromDriver: (packed) => unpackHistograms([packed]),
  toDriver: packHistogram,
});

export const bytes = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'bytea' });

/** `timestamptz(3)` in Postgres, epoch milliseconds in the program (fractions are cut off): a cursor survives the round trip. */
export const instant = customType<{ data: number; driverData: string }>({
  dataType: () => 'timestamp (3) with time zone',
  toDriver: (ms) => new Date(ms).toISOString(),
  fromDriver: (text) => Date.parse(text),
});

export const instantOfInsert = (name: string) => instant(name).notNull().default(sql`now()`);
