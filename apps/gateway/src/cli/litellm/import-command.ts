import { type AdminClient, RequestFailed } from '../admin-client';
import type { Command, CommandInput } from '../command';
import { column } from '../format-table';
import { dataOf, isObject } from '../read-list';
import { applyPlan } from './apply-plan';
import { planImport } from './plan-import';

const MAX_FILE_BYTES = 4 * 1024 * 1024;
const PROJECT_NAME = 'litellm';
const NOTHING_CHANGED = 'nothing was changed';

export const LITELLM_COMMANDS: readonly Command[] = [
  {
    name: 'import litellm',
    summary: "Import models, provider keys, budgets, aliases and fallbacks from LiteLLM's config.yaml; safe to repeat",
    args: ['file'],
    options: {
      'dry-run': { kind: 'switch', help: 'show the changes without making them' },
      project: {
        kind: 'text',
        help: `id or name of the target project, created if missing (${PROJECT_NAME})`,
      },
      'all-projects': { kind: 'switch', help: 'share the names and provider keys with all projects' },
      prices: { kind: 'switch', help: 'overwrite existing prices, for all projects' },
      'without-key': { kind: 'switch', help: 'create no key for its clients' },
    },
    run: importFile,
    shown: (body) => [...dataOf(body, 'steps'), ...dataOf(body, 'notes')],
    columns: [column('what'), column('name'), column('outcome'), column('detail')],
    hasFailed: (body) => dataOf(body, 'steps').some((step) => isObject(step) && step.outcome === 'failed'),
    note: (_, { fields }) => (fields.dry_run === true ? NOTHING_CHANGED : undefined),
  },
];

async function importFile({ api, args, fields, env }: CommandInput) {
  const plan = planImport(await readFile(args.file ?? ''), env);
  const isDryRun = fields.dry_run === true;
  const steps = await applyPlan(isDryRun ? await dryClient(api) : api, plan, {
    isDryRun,
    project: typeof fields.project === 'string' ? fields.project : PROJECT_NAME,
    forAll: fields.all_projects === true,
    takesPrices: fields.prices === true,
    withKey: fields.without_key !== true,
  });
  const notes = plan.notes.map(({ kind, at, why }) => ({ what: kind, name: at, outcome: null, detail: why }));
  const body = { dry_run: isDryRun, steps, notes };
  return { text: JSON.stringify(body), body };
}

/** Loaded on demand, because the schemas are large. */
const dryClient = async (api: AdminClient) => (await import('./dry-client')).createDryClient(api);

async function readFile(path: string): Promise<string> {
  const file = Bun.file(path);
  try {
    if (file.size > MAX_FILE_BYTES) throw new RequestFailed(`${path} is larger than ${MAX_FILE_BYTES} bytes.`);
    return await file.text();
  } catch (error) {
    if (error instanceof RequestFailed) throw error;
    throw new RequestFailed(`${path} cannot be read.`);
  }
}
