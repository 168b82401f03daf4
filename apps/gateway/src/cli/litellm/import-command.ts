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
    summary:
      "Take over models, vendors' keys, budgets, aliases and fallbacks of LiteLLM's config.yaml; may be run again",
    args: ['file'],
    options: {
      'dry-run': { kind: 'switch', help: 'say what would be done, change nothing' },
      project: {
        kind: 'text',
        help: `id or name of the project it becomes, made where it is not there (${PROJECT_NAME})`,
      },
      'all-projects': { kind: 'switch', help: "its names and vendors' keys are for every project" },
      prices: { kind: 'switch', help: 'change prices of models that have one, for every project' },
      'without-key': { kind: 'switch', help: 'make no key for its clients' },
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

/** Its schemas are many: only who needs them waits for them. */
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
