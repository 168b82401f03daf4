import type { JsonObject } from '@llm0/core/chat/json';
import type { AdminClient } from '../admin-client';
import { dataOf, everyOf, getIfThere, isObject } from '../read-list';
import type { Wanted } from './read-resources';
import { type Kind, priceAsModel } from './resource-kinds';
import { apiIdOf, auditIdOf, pathOf } from './resource-paths';
import { runBounded } from './run-bounded';

type Reader = Pick<AdminClient, 'get'>;

/** A resource of the gateway. */
export interface Found {
  readonly kind: Kind;
  readonly name: string;
  /** As in the audit. */
  readonly id: string;
  /** In the admin API, to change or delete it. */
  readonly path: string;
  /** Id of its project; null for all projects. */
  readonly project: string | null;
  readonly at: readonly string[];
  readonly shown: JsonObject;
}

/** What earlier applies of the name noted. */
export interface Managed {
  readonly kind: Kind;
  readonly id: string;
  readonly isCreated: boolean;
  readonly digest: string | null;
}

const keyOf = (kind: Kind, id: string) => `${kind} ${id}`;
const identityOf = (kind: Kind, project: string | null, at: readonly string[]) =>
  JSON.stringify([kind, kind === 'alert' ? null : project, at]);

/** The resources of a gateway, by name and by id. */
export class GatewayState {
  readonly all: Found[] = [];
  /** Ids by name and by id; a name may have several. */
  readonly projects = new Map<string, string[]>();
  readonly managed: Managed[] = [];
  /** Known providers without stored settings. */
  readonly vendors = new Set<string>();
  private readonly byIdentity = new Map<string, Found[]>();
  private readonly byId = new Map<string, Found>();
  private readonly managedById = new Map<string, Managed>();

  add(found: Found): void {
    const { kind, project, at, id } = found;
    this.all.push(found);
    this.byId.set(keyOf(kind, id), found);
    const identity = identityOf(kind, project, at);
    this.byIdentity.set(identity, [...(this.byIdentity.get(identity) ?? []), found]);
    if (kind !== 'project') return;
    this.projects.set(id, [id]);
    this.projects.set(found.name, [...(this.projects.get(found.name) ?? []), id]);
  }

  note(managed: Managed): void {
    this.managed.push(managed);
    this.managedById.set(keyOf(managed.kind, managed.id), managed);
  }

  named(kind: Kind, project: string | null, at: readonly string[]): readonly Found[] {
    return this.byIdentity.get(identityOf(kind, project, at)) ?? [];
  }

  withId(kind: Kind, id: string): Found | undefined {
    return this.byId.get(keyOf(kind, id));
  }

  managedWith({ kind, id }: Pick<Found, 'kind' | 'id'>): Managed | undefined {
    return this.managedById.get(keyOf(kind, id));
  }
}

export interface StateOptions {
  /** Absent: nothing is managed. */
  readonly applyName?: string;
  /** Limits and guardrails are read for these; `all`: for everything. */
  readonly wanted: readonly Wanted[] | 'all';
}

/** Reads a gateway by its lists; limits of customers and guardrails have none, so they are read one by one. */
export async function loadState(api: Reader, { applyName, wanted }: StateOptions): Promise<GatewayState> {
  const state = new GatewayState();
  const managed = applyName === undefined ? [] : await listOf(api, '/managed-resources', { apply_name: applyName });
  for (const { resource, resource_id: id, is_created: isCreated, secret_digest: digest } of managed) {
    const noted = { isCreated: isCreated === true, digest: typeof digest === 'string' ? digest : null };
    state.note({ kind: resource as Kind, id: String(id), ...noted });
  }
  const lists = new Map(await Promise.all(PATHS.map(async (path) => [path, await listOf(api, path)] as const)));
  const prices = pricesOf(lists.get('/models') ?? []);
  for (const [path, find] of Object.entries(LISTS)) {
    for (const one of lists.get(path) ?? []) for (const found of find(one, prices)) state.add(found);
  }
  for (const { name, is_stored } of lists.get('/providers') ?? [])
    if (is_stored !== true) state.vendors.add(String(name));
  await readGuardrails(api, state, wanted);
  await readCustomers(api, state, wanted);
  return state;
}

type Prices = ReadonlyMap<string, JsonObject>;

/** Resources of each list. */
const LISTS: Readonly<Record<string, (one: JsonObject, prices: Prices) => readonly Found[]>> = {
  '/teams': (one) => [foundOf('team', one, [one.name])],
  '/projects': (one) => [foundOf('project', one, [one.name])],
  '/providers': findProvider,
  '/models': (one) => [foundOf('model', one, [one.provider, one.model])],
  '/chains': (one) => [foundOf('chain', one, [one.name])],
  '/aliases': (one) => [foundOf('alias', one, [one.alias])],
  '/mcp/servers': (one) => [foundOf('mcp_server', one, [one.alias])],
  '/backends': (one) => [foundOf('backend', one, [one.name])],
  '/keys': (one) => [foundOf('key', one, [one.name])],
  '/label-budgets': (one) => [foundOf('label_budget', one, [one.label, one.value])],
  '/tokens': (one) => [foundOf('token', one, [one.name])],
  '/alerts': (one) => [foundOf('alert', one, [one.name])],
};
const PATHS = Object.keys(LISTS);

/** A resource as the admin API shows it. */
export function foundOf(kind: Kind, shown: JsonObject, named: readonly unknown[]): Found {
  const project = typeof shown.project_id === 'string' ? shown.project_id : null;
  const at = named.map(String);
  const parts = { at, project, id: apiIdOf(shown) };
  return { kind, name: at.join('/'), id: auditIdOf(kind, parts), path: pathOf(kind, parts), project, at, shown };
}

/** Providers of the environment alone can't be changed, so they count as missing. */
function findProvider(one: JsonObject, prices: Prices): readonly Found[] {
  const name = String(one.name);
  const keys = dataOf(one, 'keys').filter(isObject);
  const found = keys.map((key) => foundOf('provider_key', key, [name, key.name]));
  if (one.is_stored !== true) return found;
  const models = dataOf(one, 'models').map((model) => prices.get(`${name}/${model}`) ?? { model });
  const shown = { ...one, models };
  return [foundOf('provider', shown, [name]), ...found];
}

const pricesOf = (rows: readonly JsonObject[]): Prices =>
  new Map(rows.map((row) => [`${row.provider}/${row.model}`, priceAsModel(row)]));

async function readGuardrails(api: Reader, state: GatewayState, wanted: StateOptions['wanted']): Promise<void> {
  const ids =
    wanted === 'all'
      ? state.all.filter(({ kind }) => kind === 'project').map(({ id }) => id)
      : wanted.flatMap(({ kind, project }) => (kind === 'guardrails' ? projectsOf(state, project) : []));
  await runBounded(ids, async (project) => {
    const { body } = await api.get(pathOf('guardrails', { at: [], project }));
    if (body.version !== 0) state.add(foundOf('guardrails', { ...body, project_id: project }, []));
  });
}

async function readCustomers(api: Reader, state: GatewayState, wanted: StateOptions['wanted']): Promise<void> {
  const named = wanted === 'all' ? await customersOf(api, {}) : await customersToRead(api, state, wanted);
  const customers = new Map(named.map((one) => [one.join('/'), one]));
  await runBounded([...customers.values()], async ([project, customer]) => {
    const body = await getIfThere(api, pathOf('customer_limits', { at: [customer], project }));
    if (body !== undefined) state.add(foundOf('customer_limits', body, [customer]));
  });
}

type CustomerName = readonly [project: string, customer: string];

/** Those of the file, those of earlier applies, and all of projects that may go. */
async function customersToRead(
  api: Reader,
  state: GatewayState,
  wanted: readonly Wanted[],
): Promise<readonly CustomerName[]> {
  const inFile = wanted.flatMap(({ kind, project, at: [customer = ''] }) =>
    kind === 'customer_limits' ? projectsOf(state, project).map((id): CustomerName => [id, customer]) : [],
  );
  const before = state.managed.flatMap(({ kind, id }): CustomerName[] =>
    kind === 'customer_limits' ? [[id.slice(0, id.indexOf('/')), id.slice(id.indexOf('/') + 1)]] : [],
  );
  const staying = wanted.flatMap(({ kind, name }) => (kind === 'project' ? projectsOf(state, name) : []));
  const leaving = state.managed.filter(
    ({ kind, id, isCreated }) => kind === 'project' && isCreated && !staying.includes(id),
  );
  const others = await Promise.all(leaving.map(({ id }) => customersOf(api, { project_id: id })));
  return [...inFile, ...before, ...others.flat()];
}

const customersOf = async (api: Reader, query: JsonObject): Promise<readonly CustomerName[]> =>
  (await listOf(api, '/customers', { has_limits: true, ...query })).map((one) => [
    String(one.project_id),
    String(one.customer_id),
  ]);

const projectsOf = (state: GatewayState, project: string | null | undefined): readonly string[] =>
  state.projects.get(project ?? '') ?? [];

const listOf = (api: Reader, path: string, query: JsonObject = {}) => Array.fromAsync(everyOf(api, path, query));
