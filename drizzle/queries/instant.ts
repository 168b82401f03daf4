import { type SQL, sql } from 'drizzle-orm';

/** Epoch milliseconds as a timestamp; fractions are cut off. */
export const instant = (ms: number): SQL => sql`to_timestamp(${Math.floor(ms)}::bigint / 1000.0)`;
