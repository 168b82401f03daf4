import { type Histogram, packHistogram, unpackHistograms } from '@llm0/core/logs/histogram';
import { customType, timestamp } from 'drizzle-orm/pg-core';
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

/** `timestamptz(3)`: whole milliseconds, so that a cursor or a clock reading survives the round trip exactly. */
export const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' });
