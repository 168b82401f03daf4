import { formatUsd } from '@llm0/core/pricing/format-usd';
import type { ImportReport } from '@llm0/drizzle/import-llm0/import-llm0';
import { readConfig, readStoreConfig } from '../config/config';
import { importFromLlm0 } from '../process/import-llm0';
import { migrateStores } from '../process/migrate-database';
import { resetAdminToken } from '../process/reset-admin-token';
import type { LocalCommand } from './command';

/** Commands on the stores: DATABASE_URL's, or the embedded ones in DATA_DIR of a stopped gateway. */
export const LOCAL_COMMANDS: readonly LocalCommand[] = [
  {
    name: 'reset-admin-token',
    summary: 'Replace a lost admin token, directly in the database',
    runHere: async ({ env, say, note }) => {
      const config = readConfig(env);
      const token = await resetAdminToken(config, note);
      say(`admin token: ${token}`);
      note('It is shown only once: store it now. The token of the first start no longer works.');
      if (config.adminToken !== undefined) note('ADMIN_TOKEN is set here, and works too.');
      return { token };
    },
  },
  {
    name: 'migrate',
    summary: 'Migrate the database directly, before a new version starts',
    runHere: async ({ env, say, note }) => {
      const applied = await migrateStores(readStoreConfig(env), note);
      for (const migration of applied) say(`applied ${migration}`);
      say(applied.length === 0 ? 'the database is up to date' : `${applied.length} migrations applied`);
      return { applied: [...applied] };
    },
  },
  {
    name: 'import llm0',
    summary:
      'Import projects, keys, limits, prices and logs of the Go project llm0-gateway, directly into the database',
    options: {
      from: { kind: 'text', help: 'URL of the database to import (DATABASE_URL)' },
      'dry-run': { kind: 'switch', help: 'show the imported data without writing it' },
      'without-prices': { kind: 'switch', help: "skip prices; keep this gateway's own" },
    },
    runHere: async ({ env, fields, say, note }) => {
      const dryRun = fields.dry_run === true;
      const report = await importFromLlm0(readConfig(env), {
        ...(typeof fields.from === 'string' ? { from: fields.from } : {}),
        dryRun,
        withPrices: fields.without_prices !== true,
        onProgress: note,
      });
      showReport(report, dryRun, say);
      const counts = Object.entries(report.counts).map(([kind, { there, added }]) => [kind, { there, added }] as const);
      return { dry_run: dryRun, ...Object.fromEntries(counts), notes: [...report.notes] };
    },
  },
];

const NAMES = {
  projects: 'projects',
  keys: 'keys (bcrypt until their first use)',
  limits: 'limits of customers',
  prices: 'prices',
  logs: 'rows of the log',
  failovers: 'failovers',
} as const satisfies Record<keyof ImportReport['counts'], string>;

function showReport({ counts, spent, notes }: ImportReport, dryRun: boolean, say: (line: string) => void): void {
  for (const [kind, name] of Object.entries(NAMES)) {
    const { there, added } = counts[kind as keyof typeof NAMES];
    say(dryRun ? `${name}: ${there}` : `${name}: ${there}, ${added} new`);
  }
  for (const { project, spentNanoUsd } of spent) say(`spent this month: ${project} $${formatUsd(spentNanoUsd)}`);
  for (const note of notes) say(`not the same: ${note}`);
  if (dryRun) say('nothing was written');
}
