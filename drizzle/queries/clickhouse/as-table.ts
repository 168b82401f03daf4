import { type SQL, sql } from 'drizzle-orm';

/** Sums of ClickHouse as a table of Postgres, which adds them to its own. `columns`: `name type, …`. */
export const asTable = (rows: readonly object[], columns: string): SQL =>
  sql`json_to_recordset(${JSON.stringify(rows)}::json) as elsewhere(${sql.raw(columns)})`;
