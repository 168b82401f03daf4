import postgres from 'postgres';

/** Schema of our tables in the Go project's database, whose tables have the same names. */
export const OWN_SCHEMA = 'llm0_bun';
/** The lock of migrations: only one gateway creates the schema. */
const MIGRATION_LOCK = 7_107_330_001;

interface Found extends Record<string, unknown> {
  readonly is_ours: boolean;
  readonly is_apart: boolean;
  readonly is_theirs: boolean;
  readonly vector_schema: string | null;
}

export interface ChosenSchema {
  /** Every connection made with it sees our tables; the given URL, but where a schema of our own is needed. */
  readonly databaseUrl: string;
  /** The database holds the Go project's tables as well. */
  readonly isApart: boolean;
}

/**
 * Separates our tables from the Go project's: `llm0_bun` first on the search path, then only pgvector's schema.
 * Existing installations stay.
 */
export async function chooseSchema(databaseUrl: string): Promise<ChosenSchema> {
  const client = postgres(databaseUrl, { max: 1, connect_timeout: 5, onnotice: () => {}, fetch_types: false });
  try {
    return await client.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${MIGRATION_LOCK}::bigint)`;
      const [found] = await tx<Found[]>`
        select to_regclass('llm0_migrations') is not null as is_ours,
          to_regclass(${`${OWN_SCHEMA}.llm0_migrations`}) is not null as is_apart,
          exists (select from pg_attribute where attrelid = to_regclass('projects') and attname = 'spend_reset_at') as is_theirs,
          (select nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace where extname = 'vector')
            as vector_schema`;
      if (found === undefined || found.is_ours || !(found.is_apart || found.is_theirs)) {
        return { databaseUrl, isApart: false };
      }
      await tx.unsafe(`create schema if not exists ${OWN_SCHEMA}`);
      const url = new URL(databaseUrl);
      const path = new Set([OWN_SCHEMA, ...(found.vector_schema === null ? [] : [found.vector_schema])]);
      url.searchParams.set('search_path', [...path].map((name) => `"${name.replaceAll('"', '""')}"`).join(','));
      return { databaseUrl: url.href, isApart: true };
    });
  } finally {
    await client.end({ timeout: 2 });
  }
}
