import { resolve } from 'node:path';
import { claimFolder } from '@llm0/drizzle/embedded/private-folder';
import { type ImportReport, importLlm0 } from '@llm0/drizzle/import-llm0/import-llm0';
import { Llm0Source } from '@llm0/drizzle/import-llm0/source';
import { seedPrices } from '@llm0/drizzle/queries/routing/model-pricing';
import { type Config, ConfigError } from '../config/config';
import { readPriceSeed } from '../providers/price-seed';
import { withOwnSchema } from '../services/check-stores';
import { openStores, rebuildSource } from '../services/open-stores';

export interface ImportRequest {
  /** Database of the Go project; absent = DATABASE_URL. */
  readonly from?: string;
  readonly dryRun: boolean;
  readonly withPrices: boolean;
  readonly onProgress: (line: string) => void;
}

const DAY_MS = 86_400_000;

/**
 * Imports the Go project's data and recounts from the rows, so that this month's spend counts. Embedded stores must be
 * closed; gateways on real ones may run.
 */
export async function importFromLlm0(config: Config, request: ImportRequest): Promise<ImportReport> {
  const from = request.from ?? config.databaseUrl;
  if (from === undefined) throw new ConfigError('DATABASE_URL', '', 'it is not set: say --from postgres://…');
  const source = await Llm0Source.open(from);
  try {
    const nowMs = Date.now();
    const { withPrices, onProgress } = request;
    // The next cleanup would delete older rows.
    const common = { source, withPrices, onProgress, nowMs, fromMs: nowMs - config.logRetentionDays * DAY_MS };
    if (request.dryRun) return await importLlm0(common);
    return await intoStores(config, onProgress, (db) => importLlm0({ ...common, db }));
  } finally {
    await source.close();
  }
}

type Db = Awaited<ReturnType<typeof openStores>>['database']['db'];

async function intoStores(
  given: Config,
  onInfo: (line: string) => void,
  work: (db: Db) => Promise<ImportReport>,
): Promise<ImportReport> {
  const config = await withOwnSchema(given, onInfo);
  const dataDir = resolve(config.dataDir);
  claimFolder(dataDir, onInfo);
  const { database, hotStore, close } = await openStores(config, { dataDir, onWarning: onInfo });
  try {
    const { models, hash } = await readPriceSeed();
    await seedPrices(database.db, models, hash);
    await hotStore.start(rebuildSource(database));
    const result = await work(database.db);
    if (Object.values(result.counts).some(({ added }) => added > 0)) {
      await hotStore.recount();
      await hotStore.notify('tables');
    }
    return result;
  } finally {
    await close();
  }
}
