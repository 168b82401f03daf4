import type { Db } from '../client';
import { nanoFromUsd } from '../money';
import { insertLogRecords } from '../queries/logs/log-insert';
import { listPrices } from '../queries/routing/model-pricing';
import { convertKey, convertLimits, convertLog, convertPrice, convertProject, priceKey } from './convert-rows';
import type { Llm0Source } from './source';
import { addFailovers, addKey, addLimits, addPrice, addProject } from './write-rows';

/** Numbers of found and new objects by kind. */
export interface ImportReport {
  readonly counts: Readonly<Record<'projects' | 'keys' | 'limits' | 'prices' | 'logs' | 'failovers', Count>>;
  /** This month's spend of each project there, nano-USD. */
  readonly spent: readonly { readonly project: string; readonly spentNanoUsd: number }[];
  /** Unsupported settings, one line each. */
  readonly notes: readonly string[];
}

interface Count {
  there: number;
  added: number;
}

export interface ImportOptions {
  readonly source: Llm0Source;
  /** Absent = nothing is written, only counted. */
  readonly db?: Db;
  /** Rows of the log before this are left. Epoch milliseconds. */
  readonly fromMs: number;
  readonly nowMs: number;
  readonly withPrices: boolean;
  readonly onProgress: (line: string) => void;
}

const PROGRESS_EVERY = 50_000;

/** Imports the Go project's tables; a second run adds only newer rows. */
export async function importLlm0(options: ImportOptions): Promise<ImportReport> {
  const { source, db, nowMs } = options;
  const count = () => ({ there: 0, added: 0 });
  const counts = {
    projects: count(),
    keys: count(),
    limits: count(),
    prices: count(),
    logs: count(),
    failovers: count(),
  };
  const notes: string[] = [];
  const take = async <T>(kind: Count, rows: readonly T[], add: (db: Db, row: T) => Promise<boolean>) => {
    kind.there = rows.length;
    if (db === undefined) return;
    for (const row of rows) if (await add(db, row)) kind.added++;
  };
  const projects = await source.projects();
  await take(counts.projects, projects, (to, row) => addProject(to, convertProject(row)));
  await take(counts.keys, await source.keys(), (to, row) => addKey(to, convertKey(row)));
  const limits = await source.limits();
  await take(counts.limits, limits, (to, row) =>
    addLimits(to, { projectId: row.project_id, customerId: row.customer_id }, convertLimits(row)),
  );
  if (options.withPrices) await takePrices(options, counts.prices, notes);
  await takeLogs(options, counts.logs);
  await takeFailovers(options, counts.failovers);
  await note();
  const monthMs = Date.UTC(new Date(nowMs).getUTCFullYear(), new Date(nowMs).getUTCMonth(), 1);
  const spent = await source.spentSince(monthMs);
  return {
    counts,
    notes,
    spent: projects.map(({ id, name }) => ({ project: name, spentNanoUsd: nanoFromUsd(spent.get(id) ?? '0') })),
  };

  async function note(): Promise<void> {
    for (const { name } of projects.filter((project) => project.has_defaults)) {
      notes.push(`limits for all customers of the project "${name}" (default_…): give each customer its own`);
    }
    const tiers = await source.countTiers();
    if (tiers > 0) notes.push(`${tiers} customer tiers: give each customer its own limits`);
    const labelled = limits.filter((one) => one.has_label_limits).length;
    if (labelled > 0) notes.push(`limits by label of ${labelled} customers: give each label a key of its own`);
  }
}

async function takePrices({ source, db }: ImportOptions, count: Count, notes: string[]): Promise<void> {
  const known = new Map((db === undefined ? [] : await listPrices(db)).map((price) => [priceKey(price), price]));
  for (const row of await source.prices()) {
    count.there++;
    const here = known.get(priceKey(row));
    const price = convertPrice(row, here);
    if (price === undefined || db === undefined) continue;
    const isSame = here?.prices.input === price.prices.input && here?.prices.output === price.prices.output;
    if (isSame || !(await addPrice(db, price))) continue;
    count.added++;
    if (here === undefined) continue;
    const usd = ({ input = 0, output = 0 }) => `$${input / 1e6} / $${output / 1e6}`;
    notes.push(`price of ${priceKey(row)}: yours (${usd(price.prices)} per million) in place of ${usd(here.prices)}`);
  }
}

async function takeLogs({ source, db, fromMs, onProgress }: ImportOptions, count: Count): Promise<void> {
  if (db === undefined) {
    count.there = await source.countLogs(fromMs);
    return;
  }
  for await (const rows of source.logs(fromMs)) {
    const before = count.there;
    count.there += rows.length;
    count.added += (await insertLogRecords(db, rows.map(convertLog))).inserted;
    if (Math.floor(before / PROGRESS_EVERY) < Math.floor(count.there / PROGRESS_EVERY)) {
      onProgress(`${count.there} rows of the log`);
    }
  }
}

async function takeFailovers({ source, db, fromMs }: ImportOptions, count: Count): Promise<void> {
  for await (const rows of source.failovers(fromMs)) {
    count.there += rows.length;
    if (db !== undefined) count.added += await addFailovers(db, rows);
  }
}
