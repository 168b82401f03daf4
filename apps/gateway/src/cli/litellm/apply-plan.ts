import type { JsonObject } from '@llm0/core/chat/json';
import { dataOf, everyOf, isObject } from '../read-list';
import { applyPrices } from './apply-prices';
import { applyProvider } from './apply-provider';
import {
  type Applying,
  type ApplyOptions,
  changedFields,
  type ImportClient,
  type ImportStep,
  pick,
  tell,
} from './apply-step';
import type { ImportPlan, PlannedAlias, PlannedProject } from './import-plan';
import { findNamed, keepFirst } from './list-named';
import { placePlan } from './place-plan';

/**
 * Applies a plan and skips everything that already matches, so a second run changes nothing. A refusal fails one step.
 * Throws `RequestFailed` only if the gateway is unreachable.
 */
export async function applyPlan(api: ImportClient, plan: ImportPlan, options: ApplyOptions): Promise<ImportStep[]> {
  const steps: ImportStep[] = [];
  const projectId = await applyProject(api, plan.project, options, steps);
  // The rest depends on the project.
  if (steps.some(({ outcome }) => outcome === 'failed')) return steps;
  const applying = { ...options, api, steps, scope: options.forAll ? null : projectId };
  const placed = await placePlan(plan, applying);
  const lost = new Set<string>();
  for (const provider of placed.providers) if (!(await applyProvider(provider, applying))) lost.add(provider.name);
  await applyPrices(placed, applying);
  const aliases = await listAliases(applying);
  for (const alias of placed.aliases) {
    const target = alias.targets.find(({ provider }) => lost.has(provider));
    if (target === undefined) await applyAlias(alias, aliases.get(alias.alias), applying);
    else steps.push({ what: 'alias', name: alias.alias, outcome: 'failed', detail: `no provider ${target.provider}` });
  }
  if (options.withKey) await applyKey(placed.project.key, projectId, applying);
  return steps;
}

const AT_ONCE = 'made by another import at the same time';

async function applyProject(
  api: ImportClient,
  { settings, defaults }: PlannedProject,
  { project, isDryRun }: ApplyOptions,
  steps: ImportStep[],
): Promise<string | undefined> {
  const existing = await findNamed(api, '/projects', project);
  let id = existing === undefined ? undefined : String(existing.id);
  const at = { what: 'project', name: String(existing?.name ?? project) };
  await tell(steps, at, async () => {
    if (existing === undefined) {
      const fields = { ...defaults, ...settings };
      const { body } = await api.post('/projects', { name: project, ...fields });
      if (isDryRun) return ['created', describe(fields)];
      const created = { path: '/projects', made: body, isAlike: ({ name }: JsonObject) => name === project };
      id = String((await keepFirst(api, created)).id);
      return id === body.id ? ['created', describe(fields)] : ['unchanged', AT_ONCE];
    }
    const changes = changedFields(settings, existing);
    if (Object.keys(changes).length === 0) return ['unchanged', ''];
    await api.patch(`/projects/${id}`, changes);
    return ['updated', describe(changes)];
  });
  return id;
}

/** Entries of the scope, by name. */
async function listAliases({ api, scope }: Applying): Promise<ReadonlyMap<string, JsonObject>> {
  const found = new Map<string, JsonObject>();
  if (scope === undefined) return found;
  for await (const one of everyOf(api, '/aliases', scope === null ? {} : { project_id: scope })) {
    if (one.project_id === scope) found.set(String(one.alias), one);
  }
  return found;
}

async function applyAlias(planned: PlannedAlias, known: JsonObject | undefined, applying: Applying): Promise<void> {
  const { api, steps, scope } = applying;
  const { alias, strategy } = planned;
  const targets = planned.targets.map((target): JsonObject => ({ ...target }));
  const detail = `${planned.targets.map(({ provider, model }) => `${provider}/${model}`).join(', ')} (${strategy})`;
  if (targets.length === 0) {
    const why = `none of its targets can be added here${known === undefined ? '' : '; it stays as it was'}`;
    steps.push({ what: 'alias', name: alias, outcome: 'failed', detail: why });
    return;
  }
  await tell(steps, { what: 'alias', name: alias }, async (isAgain) => {
    const existing = isAgain ? (await listAliases(applying)).get(alias) : known;
    if (existing === undefined) {
      await api.post('/aliases', { alias, project_id: scope ?? null, targets, strategy });
      return ['created', detail];
    }
    const shown = dataOf(existing, 'targets').map((one) =>
      isObject(one) ? pick(one, ['provider', 'model', 'weight']) : one,
    );
    const changes = changedFields({ targets, strategy }, { ...existing, targets: shown });
    if (Object.keys(changes).length === 0) return ['unchanged', detail];
    await api.patch(`/aliases/${existing.id}`, changes);
    return ['updated', detail];
  });
}

const CLIENT_KEY = 'litellm';

async function applyKey(fields: JsonObject, projectId: string | undefined, applying: Applying): Promise<void> {
  const { api, steps, isDryRun } = applying;
  await tell(steps, { what: 'client key', name: CLIENT_KEY }, async () => {
    const path = `/projects/${projectId}/keys`;
    const existing = projectId === undefined ? undefined : await findNamed(api, path, CLIENT_KEY);
    if (existing !== undefined) {
      const changes = changedFields(fields, existing);
      if (Object.keys(changes).length === 0) return ['unchanged', `${existing.prefix}…`];
      await api.patch(`${path}/${existing.id}`, changes);
      return ['updated', describe(changes)];
    }
    const { body } = await api.post(path, { name: CLIENT_KEY, ...fields });
    if (isDryRun) return ['created', describe(fields)];
    const kept = await keepFirst(api, { path, made: body, isAlike: ({ name }) => name === CLIENT_KEY });
    if (kept.id !== body.id) return ['unchanged', `${kept.prefix}… ${AT_ONCE}`];
    return ['created', `${body.key} (shown only once)`];
  });
}

const describe = (fields: JsonObject): string =>
  Object.entries(fields)
    .map(([field, value]) => `${field}: ${value === null ? 'none' : Array.isArray(value) ? value.join(' ') : value}`)
    .join(', ');
