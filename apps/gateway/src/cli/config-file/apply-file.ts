import type { AdminClient } from '../admin-client';
import { type Applied, applyPlan } from './apply-plan';
import { judgePlan } from './judge-plan';
import { withLease } from './lease';
import { loadState } from './load-state';
import { makePlan, type Plan } from './make-plan';
import { readResources, type Wanted } from './read-resources';
import { readSources } from './read-sources';

export interface FileOptions {
  /** A file, or a folder of files. */
  readonly path: string;
  readonly applyName: string;
  readonly isPruning: boolean;
  /** Where references look for variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Changes that the file leads to. Throws `InvalidConfig`; changes nothing. */
export async function planFile(api: AdminClient, options: FileOptions): Promise<Plan> {
  return planOf(api, await readFile(options), options);
}

export interface ApplyFileOptions extends FileOptions {
  readonly signal: AbortSignal;
  note(text: string): void;
}

/** Makes the changes, one apply at a time. Throws `InvalidConfig` before the first one. */
export async function applyFile(
  api: AdminClient,
  options: ApplyFileOptions,
): Promise<{ readonly plan: Plan; readonly applied: Applied }> {
  const wanted = await readFile(options);
  return withLease(api, options, async (client) => {
    const plan = await planOf(client.api, wanted, options);
    return { plan, applied: await applyPlan(client, plan) };
  });
}

/** Reads twice where secret managers have to be asked: first for what to ask them, then with their answers. */
async function readFile({ path, env }: FileOptions): Promise<readonly Wanted[]> {
  const sources = await readSources(path);
  const asked = new Set<string>();
  const wanted = readResources(sources, env, (reference) => {
    asked.add(reference);
    return undefined;
  });
  if (asked.size === 0) return wanted;
  const { followAll } = await import('./follow-managed');
  const answers = await followAll(asked, env);
  return readResources(sources, env, (reference) => answers.get(reference));
}

async function planOf(api: AdminClient, wanted: readonly Wanted[], options: FileOptions): Promise<Plan> {
  const state = await loadState(api, { applyName: options.applyName, wanted });
  const plan = makePlan(wanted, state, options);
  await judgePlan(api, plan, state);
  return plan;
}
