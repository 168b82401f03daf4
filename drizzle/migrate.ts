// Hand-written SQL with a small runner: drizzle-kit can't express partitions, functions, triggers and optional
// pgvector. Operators read the numbered files.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sql } from 'postgres';

const MIGRATIONS_DIR = join(import.meta.dir, 'migrations');
/** Any constant: all gateways of one database take the same lock. */
const MIGRATION_LOCK = 7_107_330_001;
const OPTIONAL_MARK = '-- optional:';

export interface Migration {
  /** File name without `.sql`, e.g. `0001_projects-and-keys`. */
  readonly name: string;
  readonly sql: string;
  /** May fail with a warning and retries at the next start. Its first line has the reason. */
  readonly optional: string | null;
}

export interface MigrateOptions {
  readonly onWarning: (message: string) => void;
  /** The shipped files unless given. */
  readonly migrations?: readonly Migration[];
}

/**
 * Brings the schema up to date; returns the names applied. Each migration is one transaction under an advisory lock, so
 * that any number of gateways may start at once. Throws when the database holds another program's tables.
 */
export async function migrateDatabase(client: Sql, options: MigrateOptions): Promise<readonly string[]> {
  const migrations = options.migrations ?? (await readShippedMigrations());
  const known = await prepareLedger(client);
  const applied: string[] = [];
  const missing = new Set<string>();
  for (const migration of migrations) {
    // An optional step depends on the earlier steps of its name.
    if (known.has(migration.name) || missing.has(migration.optional ?? '')) continue;
    try {
      if (await applyMigration(client, migration)) applied.push(migration.name);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (migration.optional === null || isConnectionError(error)) {
        throw new Error(`migration ${migration.name} failed: ${reason}`, { cause: error });
      }
      missing.add(migration.optional);
      options.onWarning(`${migration.optional} (${reason})`);
    }
  }
  return applied;
}

/** All that this version has, in order. */
export const readShippedMigrations = () => readMigrations(MIGRATIONS_DIR);

export async function readMigrations(directory: string): Promise<readonly Migration[]> {
  const files = (await readdir(directory)).filter((file) => /^\d{4}_[a-z-]+\.sql$/.test(file)).sort();
  return Promise.all(
    files.map(async (file) => {
      const sql = await Bun.file(join(directory, file)).text();
      const firstLine = sql.slice(0, sql.indexOf('\n'));
      const optional = firstLine.startsWith(OPTIONAL_MARK) ? firstLine.slice(OPTIONAL_MARK.length).trim() : null;
      return { name: file.slice(0, -'.sql'.length), sql, optional };
    }),
  );
}

async function prepareLedger(client: Sql): Promise<ReadonlySet<string>> {
  return client.begin(async (tx) => {
    await tx.unsafe(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    const [found] = await tx.unsafe<{ ledger: string | null; projects: string | null }[]>(
      // The search path of a custom schema may include one with foreign tables.
      `select to_regclass('llm0_migrations')::text as ledger,
        to_regclass(quote_ident(current_schema()) || '.projects')::text as projects`,
    );
    if (found?.ledger === null) {
      if (found.projects !== null) {
        throw new Error('the database has tables of another program (projects); give the gateway an empty database');
      }
      await tx.unsafe(
        `create table llm0_migrations (name text primary key, applied_at timestamptz not null default now())`,
      );
      return new Set<string>();
    }
    const rows = await tx.unsafe<{ name: string }[]>(`select name from llm0_migrations`);
    return new Set(rows.map((row) => row.name));
  });
}

/** False when another gateway applied it while this one waited for the lock. */
async function applyMigration(client: Sql, migration: Migration): Promise<boolean> {
  return client.begin(async (tx) => {
    await tx.unsafe(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    const done = await tx.unsafe(`select 1 from llm0_migrations where name = $1`, [migration.name]);
    if (done.length > 0) return false;
    await tx.unsafe(migration.sql).simple();
    await tx.unsafe(`insert into llm0_migrations (name) values ($1)`, [migration.name]);
    return true;
  });
}

function isConnectionError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('CONNECT') || code.startsWith('ECONN') || code.startsWith('08') || code.startsWith('57');
}
