import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { isObject } from '../read-list';
import { type AddNote, asText, type PlannedAlias, type PlannedTarget } from './import-plan';
import type { PlacedDeployment } from './plan-providers';
import { readModelName } from './vendors';

const MAX_TARGETS = 20;
const MAX_WEIGHT = 1_000_000;

/** Strategies there and the nearest here. */
const STRATEGIES: Readonly<Record<string, { readonly strategy: string; readonly differs?: string }>> = {
  'simple-shuffle': { strategy: 'weighted' },
  'latency-based-routing': { strategy: 'least_latency' },
  'cost-based-routing': { strategy: 'cheapest' },
  'least-busy': { strategy: 'weighted', differs: 'requests are shared out by weight, not by who has the fewest' },
  'usage-based-routing': { strategy: 'weighted', differs: 'requests follow the weights, not the past usage' },
  'usage-based-routing-v2': {
    strategy: 'weighted',
    differs: 'requests follow the weights, not the past usage',
  },
};

type Groups = ReadonlyMap<string, readonly PlacedDeployment[]>;
type Fallbacks = ReadonlyMap<string, readonly string[]>;

interface Routing {
  readonly groups: Groups;
  readonly fallbacks: Fallbacks;
  /** Fallbacks for long requests: only the group's own, after all others. */
  readonly larger: Fallbacks;
  readonly strategy: string;
}

/** Clients' model names with deployments and fallbacks. */
export function planAliases(
  config: JsonObject,
  placed: readonly PlacedDeployment[],
  note: AddNote,
): readonly PlannedAlias[] {
  const named = groupByName(placed, note);
  const groups = new Map([...named, ...groupsOfWildcards(config, named, placed)]);
  const routing = { groups, ...readFallbacks(config, groups, note), strategy: readStrategy(config, note) };
  const aliases: PlannedAlias[] = [];
  for (const name of named.keys()) aliases.push({ ...targetsOf(name, routing, note), alias: name });
  for (const [name, group] of readGroupAliases(config, note)) {
    if (!groups.has(group)) note('left out', `model_group_alias ${name}`, `"${group}" is not in model_list`);
    else if (!groups.has(name)) aliases.push({ ...targetsOf(group, routing, note), alias: name });
  }
  return aliases;
}

/** Wildcards need no alias: every model of a configured vendor is there by its own name. */
function groupByName(placed: readonly PlacedDeployment[], note: AddNote): Map<string, PlacedDeployment[]> {
  const groups = new Map<string, PlacedDeployment[]>();
  for (const deployment of placed) {
    const { group, at, model, provider } = deployment;
    if (group.includes('*') || model.includes('*')) {
      note('differs', at, `ask for models of ${provider} by their names, or as ${provider}/<model>`);
      continue;
    }
    const known = groups.get(group);
    if (known === undefined) groups.set(group, [deployment]);
    else known.push(deployment);
  }
  return groups;
}

const FALLBACKS = ['fallbacks', 'default_fallbacks', 'context_window_fallbacks'];

/** Models that only fallbacks name, and that a wildcard of their vendor has: no alias of their own, but targets of others. */
function groupsOfWildcards(config: JsonObject, known: Groups, placed: readonly PlacedDeployment[]): Groups {
  const found = new Map<string, readonly PlacedDeployment[]>();
  for (const name of FALLBACKS.flatMap((field) => textsIn(settingOf(config, field)))) {
    const model = known.has(name) ? undefined : readModelName(name, undefined);
    if (model === undefined || !('known' in model.vendor)) continue;
    const vendor = model.vendor.known;
    const wildcard = placed.find((one) => one.provider === vendor && `${one.group}${one.model}`.includes('*'));
    if (wildcard !== undefined) found.set(name, [{ ...wildcard, group: name, model: model.model }]);
  }
  return found;
}

/** All texts of lists and mappings within, names of fields left out. */
function textsIn(value: JsonValue | undefined): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.values(value).flatMap(textsIn) : [];
}

function targetsOf(name: string, routing: Routing, note: AddNote): Omit<PlannedAlias, 'alias'> {
  const { groups, fallbacks, larger, strategy } = routing;
  const own = mergeTargets(groups.get(name) ?? []);
  const isOrdered = (groups.get(name) ?? []).some(({ order }) => order !== undefined);
  const standIns: PlannedTarget[] = [];
  for (const group of [...reachable(name, fallbacks), ...(larger.get(name) ?? [])]) {
    for (const target of mergeTargets(groups.get(group) ?? [])) {
      if (![...own, ...standIns].some((one) => isSame(one, target))) standIns.push({ ...target, weight: 0 });
    }
  }
  const targets = [...own, ...standIns];
  if (targets.length > MAX_TARGETS) note('differs', name, `only its first ${MAX_TARGETS} targets are taken`);
  const chosen = targets.slice(0, MAX_TARGETS);
  if (own.length < 2 || isOrdered)
    return { strategy: 'priority', targets: chosen.map((one) => ({ ...one, weight: 1 })) };
  if (standIns.length > 0 && strategy !== 'weighted') {
    note('differs', name, `with fallbacks its deployments are shared out by weight, not ${strategy}`);
  }
  return { strategy: standIns.length > 0 ? 'weighted' : strategy, targets: chosen };
}

const isSame = (a: PlannedTarget, b: PlannedTarget) => a.provider === b.provider && a.model === b.model;

/** Several deployments at one target (other keys, mostly) are one; their weights add up. */
function mergeTargets(deployments: readonly PlacedDeployment[]): readonly PlannedTarget[] {
  const sorted = deployments.toSorted((a, b) => (a.order ?? 0) - (b.order ?? 0));
  const given = sorted.flatMap(({ weight }) => weight ?? []);
  // A deployment without a weight gets the average one, not the lowest.
  const usual = given.length === 0 ? 1 : given.reduce((sum, weight) => sum + weight, 0) / given.length;
  const merged = new Map<string, PlannedTarget>();
  for (const { provider, model, weight } of sorted) {
    const key = `${provider}/${model}`;
    merged.set(key, { provider, model, weight: (weight ?? usual) + (merged.get(key)?.weight ?? 0) });
  }
  return wholeWeights([...merged.values()]);
}

/** Weights are whole numbers up to a million here: tokens a minute are scaled down, fractions up. */
function wholeWeights(targets: readonly PlannedTarget[]): readonly PlannedTarget[] {
  const weights = targets.map(({ weight }) => Math.max(0, weight));
  const largest = Math.max(...weights);
  if (largest <= MAX_WEIGHT && weights.every(Number.isInteger))
    return targets.map((one, i) => ({ ...one, weight: weights[i] ?? 0 }));
  const scale = 1000 / largest;
  return targets.map((one, i) => ({
    ...one,
    weight: (weights[i] ?? 0) > 0 ? Math.max(1, Math.round((weights[i] ?? 0) * scale)) : 0,
  }));
}

/** Fallbacks, and theirs, each once, in the order in which they are tried. */
function reachable(name: string, fallbacks: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const seen = new Set([name]);
  const visit = (group: string) => {
    for (const next of fallbacks.get(group) ?? []) {
      if (seen.has(next) || seen.size > MAX_TARGETS) continue;
      seen.add(next);
      visit(next);
    }
  };
  visit(name);
  return [...seen].slice(1);
}

function readFallbacks(config: JsonObject, groups: Groups, note: AddNote): Pick<Routing, 'fallbacks' | 'larger'> {
  const fallbacks = readNamed(config, 'fallbacks', groups, note);
  const defaults = settingOf(config, 'default_fallbacks');
  if (defaults !== undefined) {
    const to = known(defaults, groups, 'default_fallbacks', note);
    for (const name of groups.keys()) if (!fallbacks.has(name)) fallbacks.set(name, to);
  }
  const larger = readNamed(config, 'context_window_fallbacks', groups, note);
  if (larger.size > 0) {
    const why = 'targets with too small a window are always skipped; these also follow after failures';
    note('differs', 'context_window_fallbacks', why);
  }
  if (settingOf(config, 'content_policy_fallbacks') !== undefined) {
    note(
      'left out',
      'content_policy_fallbacks',
      "a vendor's refusal of a request (400) is told, never tried elsewhere",
    );
  }
  return { fallbacks, larger };
}

/** A list of mappings, group to groups. */
function readNamed(config: JsonObject, field: string, groups: Groups, note: AddNote): Map<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  const list = settingOf(config, field);
  for (const one of Array.isArray(list) ? list : []) {
    for (const [name, to] of Object.entries(isObject(one) ? one : {})) {
      found.set(name, [...(found.get(name) ?? []), ...known(to, groups, `${field} of ${name}`, note)]);
    }
  }
  return found;
}

function known(to: JsonValue, groups: Groups, at: string, note: AddNote): readonly string[] {
  return (Array.isArray(to) ? to : [to]).flatMap((one) => {
    const group = asText(isObject(one) ? one.model : one);
    if (group !== undefined && groups.has(group)) return [group];
    note('left out', at.slice(0, 200), `"${String(group ?? '').slice(0, 100)}" is not in model_list`);
    return [];
  });
}

/** `router_settings` go before `litellm_settings`. */
export function settingOf(config: JsonObject, field: string): JsonValue | undefined {
  for (const section of [config.router_settings, config.litellm_settings]) {
    if (isObject(section) && section[field] !== undefined && section[field] !== null) return section[field];
  }
  return undefined;
}

function readStrategy(config: JsonObject, note: AddNote): string {
  const name = asText(settingOf(config, 'routing_strategy')) ?? 'simple-shuffle';
  const known = Object.hasOwn(STRATEGIES, name) ? STRATEGIES[name] : undefined;
  const { strategy, differs } = known ?? { strategy: 'weighted', differs: 'requests are shared out by weight' };
  if (differs !== undefined) note('differs', `routing_strategy ${name.slice(0, 60)}`, differs);
  return strategy;
}

function readGroupAliases(config: JsonObject, note: AddNote): readonly (readonly [alias: string, group: string])[] {
  const aliases = settingOf(config, 'model_group_alias');
  if (!isObject(aliases)) return [];
  return Object.entries(aliases).flatMap(([alias, to]) => {
    const group = asText(isObject(to) ? to.model : to);
    if (group === undefined) note('left out', `model_group_alias ${alias}`, 'it names no model');
    else if (isObject(to) && to.hidden === true)
      note(
        'differs',
        `model_group_alias ${alias}`,
        'hidden: GET /v1/models lists it as every name that a key may call',
      );
    return group === undefined ? [] : [[alias, group] as const];
  });
}
