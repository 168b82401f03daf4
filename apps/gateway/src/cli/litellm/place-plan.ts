// Never moves an existing provider or changes its headers, because others use it. Adds a different one beside it.
import type { JsonObject } from '@llm0/core/chat/json';
import { dataOf, everyOf, isObject } from '../read-list';
import type { Applying } from './apply-step';
import type { ImportPlan, PlannedProvider, UnpricedModel } from './import-plan';
import { fullNameOf, shortNameOf } from './name-servers';

/** A planned provider with its match here. */
export interface PlacedProvider extends PlannedProvider {
  /** Existing provider in the admin API; absent to create one. */
  readonly existing?: JsonObject;
  /** Existing server at the same URL, which may have prices; set for a server to create. */
  readonly beside?: string;
  /** Set if the vendor is configured differently and can't be added as a server. */
  readonly refusal?: string;
}

export interface PlacedPlan extends Omit<ImportPlan, 'providers'> {
  readonly providers: readonly PlacedProvider[];
}

type Scope = Applying['scope'];

/** Existing resources to match. */
interface Known {
  /** By name. */
  readonly providers: ReadonlyMap<string, JsonObject>;
  /** Projects whose aliases use each provider; null = global aliases. */
  readonly users: ReadonlyMap<string, ReadonlySet<unknown>>;
  readonly scope: Scope;
}

/** The plan with every provider under its name here. */
export async function placePlan(plan: ImportPlan, applying: Pick<Applying, 'api' | 'scope'>): Promise<PlacedPlan> {
  const known = await readKnown(applying);
  const taken = new Set(known.providers.keys());
  const moves = new Map<string, Move>();
  const providers = plan.providers.map((planned): PlacedProvider => {
    const placed = planned.isVendor ? placeVendor(planned, known, taken) : placeServer(planned, known, taken);
    taken.add(placed.name);
    moves.set(planned.name, { to: placed.refusal === undefined ? placed.name : undefined, region: regionOf(placed) });
    return placed;
  });
  const beside = new Map(plan.providers.map(({ name }, index) => [name, providers[index]?.beside]));
  const unpriced = [...plan.unpriced, ...unpricedAtServers(plan, providers)].map((one): UnpricedModel => {
    const provider = beside.get(one.provider);
    return one.base !== undefined || provider === undefined ? one : { ...one, base: { provider, model: one.model } };
  });
  return { ...plan, providers, ...movedNames({ ...plan, unpriced }, moves) };
}

/** Models of a vendor that is a server here have the vendor's price. */
function unpricedAtServers({ aliases, prices, unpriced, providers }: ImportPlan, placed: readonly PlacedProvider[]) {
  const moved = providers.filter(({ isVendor }, index) => isVendor && placed[index]?.isVendor === false);
  const names = new Set(moved.map(({ name }) => name));
  const known = new Set([...prices, ...unpriced].map(nameOfTarget));
  const targets = aliases.flatMap((alias) => alias.targets.filter(({ provider }) => names.has(provider)));
  const lost = new Map(targets.map(({ provider, model }) => [nameOfTarget({ provider, model }), { provider, model }]));
  return [...lost].flatMap(([name, one]): UnpricedModel[] => (known.has(name) ? [] : [{ ...one, base: one }]));
}

const nameOfTarget = ({ provider, model }: Pick<UnpricedModel, 'provider' | 'model'>) => `${provider}/${model}`;

async function readKnown({ api, scope }: Pick<Applying, 'api' | 'scope'>): Promise<Known> {
  const providers = new Map<string, JsonObject>();
  const users = new Map<string, Set<unknown>>();
  for await (const one of everyOf(api, '/providers')) providers.set(String(one.name), one);
  for await (const alias of everyOf(api, '/aliases')) {
    for (const target of dataOf(alias, 'targets').filter(isObject)) {
      users.getOrInsertComputed(String(target.provider), () => new Set()).add(alias.project_id);
    }
  }
  return { providers, users, scope };
}

/** Leaves a configured vendor unchanged. Adds one at another address as a server if it speaks OpenAI's format. */
function placeVendor(planned: PlannedProvider, known: Known, taken: ReadonlySet<string>): PlacedProvider {
  const existing = known.providers.get(planned.name);
  if (existing === undefined || !isSetUp(existing)) return { ...planned, existing };
  const { baseUrl, asServer } = planned;
  if (baseUrl === undefined || sameUrl(existing.base_url, baseUrl)) return { ...planned, existing };
  if (asServer === undefined) {
    const where = `it is at ${existing.base_url} here, for every project, and stays there; the file has ${baseUrl}`;
    return { ...planned, existing, refusal: where };
  }
  const server = { ...planned, isVendor: false, baseUrl: asServer, options: {} };
  return placeServer({ ...server, name: shortNameOf(asServer) ?? fullNameOf(serverOf(server)) }, known, taken);
}

const isSetUp = ({ is_stored: isStored, is_configured: isConfigured }: JsonObject) =>
  isStored === true || isConfigured === true;

/** The existing server at this address under any name; else a new one. */
function placeServer(planned: PlannedProvider, known: Known, taken: ReadonlySet<string>): PlacedProvider {
  const names = namesFor(planned);
  const alike = known.providers.values().filter((one) => isSameServer(planned, one) && mayBeUsed(planned, one, known));
  const [found] = [...alike].sort((a, b) => rankOf(a, names) - rankOf(b, names));
  if (found !== undefined) return { ...planned, name: String(found.name), existing: found };
  const name = names.find((one) => !taken.has(one));
  return name === undefined
    ? { ...planned, refusal: 'its names belong to other servers here: add it by "llm0 providers create"' }
    : { ...planned, name, beside: besideOf(planned, known) };
}

function besideOf({ baseUrl = '' }: PlannedProvider, { providers }: Known): string | undefined {
  const found = providers.values().find((one) => sameUrl(one.base_url, baseUrl));
  return found === undefined ? undefined : String(found.name);
}

const serverOf = ({ baseUrl = '', headers }: Pick<PlannedProvider, 'baseUrl' | 'headers'>) => ({ baseUrl, headers });

const namesFor = (planned: PlannedProvider): readonly string[] => [
  planned.name,
  fullNameOf(serverOf(planned)),
  fullNameOf(serverOf(planned), planned.keys.length === 0 ? 'without key' : 'with key'),
];

function rankOf({ name }: JsonObject, names: readonly string[]): number {
  const place = names.indexOf(String(name));
  return place < 0 ? names.length : place;
}

/** The API shows names of headers only. A server name derived from the headers identifies their values. */
function isSameServer(planned: PlannedProvider, existing: JsonObject): boolean {
  const { baseUrl = '', headers } = planned;
  const isAdded = existing.kind !== existing.name && sameUrl(existing.base_url, baseUrl);
  const wanted = Object.keys(headers).map((name) => name.toLowerCase());
  const there = dataOf(existing, 'header_names').map((name) => String(name).toLowerCase());
  if (!isAdded || !Bun.deepEquals(wanted.sort(), there.sort())) return false;
  return wanted.length === 0 || namesFor(planned).includes(String(existing.name));
}

const keysOf = (provider: JsonObject) => dataOf(provider, 'keys').filter(isObject);

/** Compares the visible end of a key. */
export function endsAlike({ last_characters: end }: JsonObject, secret: string): boolean {
  return typeof end === 'string' && end !== '' && secret.endsWith(end);
}

/**
 * One project's key would close a keyless shared server for others. A server with other projects' keys only isn't open
 * to this one.
 */
function mayBeUsed({ keys }: PlannedProvider, existing: JsonObject, { users, scope }: Known): boolean {
  const owners = new Set(keysOf(existing).map((one) => one.project_id));
  if (owners.has(null) || owners.has(scope ?? '')) return true;
  if (keys.length === 0) return owners.size === 0;
  // A global key closes nothing.
  if (scope === null) return true;
  const ours = users.get(String(existing.name));
  return owners.size > 0 || (ours !== undefined && ours.size === 1 && ours.has(scope));
}

const sameUrl = (shown: unknown, baseUrl: string): boolean =>
  typeof shown === 'string' && shown.replace(/\/{1,20}$/, '') === baseUrl;

/** Destination of a planned provider; `to` undefined = none. */
interface Move {
  readonly to: string | undefined;
  /** Prefix of its models' names if the existing provider has another region. */
  readonly region: string | undefined;
}

function regionOf({ options, existing, isVendor }: PlacedProvider): string | undefined {
  if (!isVendor || existing === undefined || !isSetUp(existing) || options.region === undefined) return undefined;
  const { region } = isObject(existing.options) ? existing.options : {};
  return region === options.region ? undefined : options.region;
}

function movedNames(plan: ImportPlan, moves: ReadonlyMap<string, Move>) {
  const moved = <T extends { readonly provider: string; readonly model: string }>(one: T): T[] => {
    const { to, region } = moves.get(one.provider) ?? { to: one.provider, region: undefined };
    if (to === undefined) return [];
    const model = region === undefined || REGIONAL.test(one.model) ? one.model : `${region}/${one.model}`;
    return [{ ...one, provider: to, model }];
  };
  const aliases = plan.aliases
    .map((alias) => ({ ...alias, targets: alias.targets.flatMap(moved) }))
    // An alias for its own only target is unnecessary.
    .filter(({ alias, targets: [only, second] }) => !(only && !second && nameOfTarget(only) === alias));
  const names = new Set(plan.aliases.map(({ alias }) => alias));
  const { allowed_models: allowed } = plan.project.key;
  const renamed = (name: string) => {
    const cut = name.indexOf('/');
    const move = names.has(name) ? undefined : moves.get(name.slice(0, Math.max(cut, 0)));
    return move === undefined ? [name] : move.to === undefined ? [] : [`${move.to}${name.slice(cut)}`];
  };
  const key = Array.isArray(allowed)
    ? { ...plan.project.key, allowed_models: allowed.flatMap((name) => renamed(String(name))) }
    : plan.project.key;
  const project = { ...plan.project, key };
  return { aliases, prices: plan.prices.flatMap(moved), unpriced: plan.unpriced.flatMap(moved), project };
}

const REGIONAL = /^[a-z]{2}(?:-gov)?-[a-z]+-\d\//;
