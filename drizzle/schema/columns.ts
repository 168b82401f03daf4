import { customType, timestamp } from 'drizzle-orm/pg-core';
import { nanoFromUsd, usdFromNano } from '../money';

/** `numeric(20,9)` in Postgres, integer nano-USD in the program. */
export const nanoUsd = customType<{ data: number; driverData: string }>({
  dataType: () => 'numeric(20,9)',
  toDriver: usdFromNano,
  fromDriver: nanoFromUsd,
});

/** `bigint[]`, for sparse histograms (elements stay below 2^53). */
export const bigintArray = customType<{ data: readonly number[]; driverData: string }>({
  dataType: () => 'bigint[]',
  // As Postgres writes it: `{1,2}`.
  fromDriver: (text) => (text === '{}' ? [] : text.slice(1, -1).split(',').map(Number)),
  toDriver: (values) => `{${values.join(',')}}`,
});

export const bytes = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'bytea' });

/** `timestamptz(3)`: whole milliseconds, so that a cursor or a clock reading survives the round trip exactly. */
export const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' });
