import { formatUsd } from '@llm0/core/pricing/format-usd';
import type { ImportReport } from '@llm0/drizzle/import-llm0/import-llm0';
import { readConfig, readStoreConfig } from '../config/config';
import { importFromLlm0 } from '../process/import-llm0';
import { migrateStores } from '../process/migrate-database';
import { resetAdminToken } from '../process/reset-admin-token';
import type { LocalCommand } from './command';

/** What works on the stores themselves: DATABASE_URL's, or those embedded in DATA_DIR of a gateway that is stopped. */
export const LOCAL_COMMANDS: readonly LocalCommand[] = [
  {
    name: 'reset-admin-token',
    summary: 'Make an admin token for who lost theirs; on the stores themselves, without one',
    runHere: async ({ env, say, note }) => {
      const config = readConfig(env);
      const token = await resetAdminToken(config, note);
      say(`admin token: ${token}`);
      note('It is shown this once: keep it now. The one that the first start showed opens nothing any more.');
      if (config.adminToken !== undefined) note('ADMIN_TOKEN is set here: where it is set, it opens as well.');
      return { token };
    },
  },
  {
    name: 'migrate',
    summary: "Bring the database's tables up to date and end; on the stores themselves, before a new version starts",
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
      'Take over projects, keys, limits, prices and logs of the Go project llm0-gateway; on the stores themselves',
    options: {
      from: { kind: 'text', help: 'URL of its database (DATABASE_URL)' },
      'dry-run': { kind: 'switch', help: 'say what would be taken over, write nothing' },
      'without-prices': { kind: 'switch', help: "leave its prices: this gateway's own hold" },
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
