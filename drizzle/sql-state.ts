import { RecordsRejectedError } from '@llm0/core/logs/decode-log-record';

/** SQLSTATE of a Postgres error, also inside drizzle's wrapper; undefined for anything else (no connection, …). */
export function sqlState(error: unknown): string | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string' && /^[0-9A-Z]{5}$/.test(at.code)) return at.code;
  }
  return undefined;
}

/** Invalid data (22), a violated constraint (23) or excessive nesting (54): a retry would fail again. */
export function isDataAtFault(error: unknown): boolean {
  return /^(?:22|23|54)/.test(sqlState(error) ?? '');
}

/** Runs a write; throws `RecordsRejectedError` where its data is at fault, so that it is not tried again. */
export async function rejectingBadData<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (isDataAtFault(error)) throw new RecordsRejectedError(rootMessage(error), { cause: error });
    throw error;
  }
}

/** The database's own words: drizzle's message would repeat the whole statement with its values. */
export function rootMessage(error: unknown): string {
  const root = rootCause(error);
  return root instanceof Error ? root.message : String(root);
}

/** Code of the first error that has one: of the database, its client, or the log's store. */
export function errorCode(error: unknown): string | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string') return at.code;
  }
  return undefined;
}

function rootCause(error: unknown): unknown {
  let root = error;
  while (root instanceof Error && root.cause !== undefined) root = root.cause;
  return root;
}
