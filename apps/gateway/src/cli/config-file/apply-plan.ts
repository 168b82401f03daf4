import type { JsonObject } from '@llm0/core/chat/json';
import { type AdminClient, RequestFailed } from '../admin-client';
import { changesOf, digestOf, secretsOf } from './compare';
import { provideSecret } from './key-secrets';
import type { LeasedClient } from './lease';
import { foundOf } from './load-state';
import type { Plan, Step } from './make-plan';
import type { Wanted } from './read-resources';
import { kindOf } from './resource-kinds';
import { collectionOf, NAMES_PROJECT, pathOf } from './resource-paths';
import { runBounded } from './run-bounded';

export interface Applied {
  readonly done: ReadonlySet<Step>;
  /** Why the rest is not done. */
  readonly failure?: string;
}

const NOT_FOUND = 404;

/**
 * Makes the changes of a plan, each resource at once, in the order of their dependencies. The first failure ends it; the
 * next apply does the rest.
 */
export async function applyPlan(client: LeasedClient, plan: Plan): Promise<Applied> {
  const done = new Set<Step>();
  const made: Made = new Map();
  for (const group of groupsOf(plan.steps)) {
    try {
      await runBounded(group, async (step) => {
        client.checkOn();
        await applyStep(client.api, step, made);
        done.add(step);
      });
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      return { done, failure: error.message };
    }
  }
  return { done };
}

/** Neighbours of one kind and action don't depend on each other. */
function groupsOf(steps: readonly Step[]): Step[][] {
  const groups: Step[][] = [];
  for (const step of steps) {
    const last = groups.at(-1);
    const isDeletion = (one: Step | undefined) => one?.action === 'delete';
    if (last?.[0]?.kind === step.kind && isDeletion(last[0]) === isDeletion(step)) last.push(step);
    else groups.push([step]);
  }
  return groups;
}

/** Ids of the teams and projects that this apply created, by kind and name. */
type Made = Map<string, string>;

async function applyStep(api: AdminClient, step: Step, made: Made): Promise<void> {
  try {
    if (step.action === 'delete') await remove(api, step);
    else if (step.wanted !== undefined) await write(api, { ...step, wanted: step.wanted }, made);
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error;
    throw new RequestFailed(`${step.action} ${step.kind} ${step.name}: ${error.message}`, error.status);
  }
}

/** The deletion of its project or provider may have taken it along. */
async function remove(api: AdminClient, { found }: Step): Promise<void> {
  if (found === undefined) return;
  await api.delete(found.path).catch((error: unknown) => {
    if (!(error instanceof RequestFailed) || error.status !== NOT_FOUND) throw error;
  });
}

async function write(api: AdminClient, step: Step & { readonly wanted: Wanted }, made: Made): Promise<void> {
  const { kind, found, changes } = step;
  const wanted = withTeam(step.wanted, made);
  const { isReplaced, changeOnly = [], sentWith = {} } = kindOf(kind);
  const project = projectOf(step, made);
  const fields = new Set(changes.flatMap(({ field }) => [field, ...(sentWith[field] ?? [])]));
  if (isReplaced === true) {
    await api.put(pathOf(kind, { at: wanted.at, project }), wanted.body);
    return;
  }
  if (found !== undefined) {
    const moved: JsonObject = fields.has('project_id') ? { project_id: project } : {};
    const changed = { ...pick(wanted.body, (field) => fields.has(field)), ...moved };
    await send(api, { ...wanted, fields }, (one) => one.patch(found.path, changed));
    return;
  }
  const body = pick(wanted.body, (field) => !changeOnly.includes(field));
  const own: JsonObject = NAMES_PROJECT.has(kind) && project !== null ? { project_id: project } : {};
  const secret: JsonObject = step.key === undefined ? {} : { [step.key.form.field]: await provideSecret(step.key) };
  const path = collectionOf(kind, { at: wanted.at, project });
  const answer = await send(api, wanted, (one) => one.post(path, { ...body, ...own, ...secret }));
  if (kind === 'project' || kind === 'team') made.set(`${kind} ${wanted.name}`, String(answer.body.id));
  await setLater(api, wanted, answer.body);
}

function withTeam(wanted: Wanted, made: Made): Wanted {
  const team = made.get(`team ${wanted.body.team_id}`);
  return team === undefined ? wanted : { ...wanted, body: { ...wanted.body, team_id: team } };
}

/** Fields that the API takes of an existing resource only. */
async function setLater(api: AdminClient, { kind, body, at }: Wanted, shown: JsonObject): Promise<void> {
  const { changeOnly = [] } = kindOf(kind);
  const later = pick(body, (field) => changeOnly.includes(field));
  if (changesOf(kind, later, shown).length > 0) await api.patch(foundOf(kind, shown, at).path, later);
}

/** With a digest of the secrets that it sends. */
function send<T>(
  api: AdminClient,
  { kind, body, fields }: Wanted & { readonly fields?: ReadonlySet<string> },
  request: (api: AdminClient) => Promise<T>,
): Promise<T> {
  const secrets = secretsOf(kind, body);
  const isSent = Object.keys(secrets).some((field) => fields === undefined || fields.has(field));
  return request(isSent ? api.withHeaders({ 'X-LLM0-Secret-Digest': digestOf(secrets) }) : api);
}

function projectOf({ project, wanted }: Step, made: Made): string | null {
  if (project !== undefined) return project;
  const id = made.get(`project ${wanted?.project}`);
  if (id === undefined) throw new RequestFailed(`the project "${wanted?.project}" was not created`);
  return id;
}

const pick = (from: JsonObject, isPicked: (field: string) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(from).filter(([field]) => isPicked(field)));
