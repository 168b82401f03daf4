import { GatewayError } from '@llm0/core/errors/gateway-error';
import { type ApiKey, levelWithout } from '@llm0/core/keys/api-key';
import { MODES, type PricedModel } from '@llm0/core/pricing/price-book';
import { readReleaseMs } from '@llm0/core/routing/model-name';
import { type Route, type RoutingTables, resolveTargets, targetsOf } from '@llm0/core/routing/resolve-targets';
import { isSameTarget, type Target, targetKey } from '@llm0/core/routing/target';
import type { Dialect, ModelCard } from '../dialects/dialect';
import type { Services } from '../services/contract';
import { describeModel, filterModels } from './describe-model';
import { handleKeyRequest, type KeyNeeds, type KeyRequest } from './handle-key-request';
import { isModelAllowed, isWithinLevels } from './request/prepared-route';
import { builtInModel } from './upstream/built-in-route';

type Needs = KeyNeeds & Pick<Services, 'routing'>;

/** Addresses that list models, the usual one first. */
export type ModelDialects = readonly [Dialect, ...Dialect[]];

export interface ListModelsInput extends Pick<KeyRequest, 'request' | 'chosen'> {
  readonly dialects: ModelDialects;
}

/** `GET /v1/models`: the key's models. */
export function listModels(services: Needs, input: ListModelsInput): Promise<Response> {
  return answer(services, input, (key, { models: shape }) => {
    const query = new URL(input.request.url).searchParams;
    const models = filterModels(callableModels(services.routing(), key), query, shape?.listParameters);
    return shape?.encodeList(models, query) ?? { object: 'list', data: models };
  });
}

export interface ShowModelInput extends ListModelsInput {
  readonly id: string;
}

/** `GET /v1/models/{id}` */
export function showModel(services: Needs, { id, ...input }: ShowModelInput): Promise<Response> {
  return answer(services, input, (key, { models: shape }) => {
    const found = callableModels(services.routing(), key).find(
      (model) => model.id === id || `${model.owned_by}/${model.id}` === id,
    );
    if (found === undefined) {
      throw new GatewayError('model_not_found', `This key cannot call a model "${id.slice(0, 120)}".`, {
        param: 'model',
      });
    }
    return shape?.encodeModel(found) ?? found;
  });
}

function answer(
  services: Needs,
  { request, dialects, chosen }: ListModelsInput,
  build: (key: ApiKey, dialect: Dialect) => unknown,
): Promise<Response> {
  const dialect = dialects.find(({ models }) => models?.isAsked(request.headers)) ?? dialects[0];
  return handleKeyRequest(services, { request, dialect, chosen }, ({ key }, headers) => {
    const { requestIdHeader } = dialect;
    if (requestIdHeader !== undefined) headers[requestIdHeader] = headers['X-Request-Id'] ?? '';
    return Response.json(build(key, dialect), { headers });
  });
}

const CALLABLE_MODES = new Set<string>(MODES);

/**
 * Every model of a configured provider that the key may call and the failover mode allows, the one in this process, and
 * the project's aliases.
 * Each id leads to its owner when it is sent back: a name that leads elsewhere gets its provider in front.
 */
export function callableModels(allTables: RoutingTables, key: ApiKey): readonly ModelCard[] {
  const known = KNOWN.getOrInsertComputed(allTables, () => new WeakMap());
  return known.getOrInsertComputed(key, () => findCallable(allTables, key));
}

/** Tables and keys are replaced as a whole when they change: a list of 1,500 models is made once for both. */
const KNOWN = new WeakMap<RoutingTables, WeakMap<ApiKey, readonly ModelCard[]>>();

function findCallable(allTables: RoutingTables, key: ApiKey): readonly ModelCard[] {
  const tables = allTables.forProject(key.projectId);
  const shown = new Map<string, ModelCard>();
  const seededMs = earliest(tables.prices.list());
  const add = (provider: string, name: string, priced: PricedModel | undefined) => {
    if (!isModelAllowed(key, [name, `${provider}/${name}`])) return;
    if (levelWithout(key, provider) !== undefined) return;
    if (targetsOf({ provider, model: name }, tables).length === 0) return;
    const id = [name, `${provider}/${name}`].find((one) => leadsTo(one, { provider, model: name }, tables, key));
    if (id === undefined) return;
    const created = createdSeconds(name, priced, seededMs);
    shown.set(id, { id, object: 'model', created, owned_by: provider, ...describeModel(priced) });
  };
  for (const provider of tables.providers.values()) {
    for (const name of provider.liveModels) add(provider.name, name, tables.prices.find(provider.name, name));
  }
  for (const priced of tables.prices.list()) {
    const provider = tables.providers.get(priced.provider);
    if (provider === undefined || provider.liveModels.has(priced.model) || !CALLABLE_MODES.has(priced.mode)) continue;
    add(provider.name, priced.model, priced);
  }
  const builtIn = builtInModel(key, tables);
  if (builtIn !== undefined) {
    const id = targetKey(builtIn);
    const created = Math.floor(FIRST_RELEASE_MS / 1000);
    shown.set(id, { id, object: 'model', created, owned_by: builtIn.provider, ...describeModel(builtIn) });
  }
  for (const alias of aliasModels(tables, key, seededMs)) shown.set(alias.id, alias);
  return [...shown.values()];
}

function leadsTo(id: string, target: Target, tables: RoutingTables, key: ApiKey): boolean {
  const route = findRoute(id, tables, key.projectId);
  return route !== undefined && route.alias === undefined && isSameTarget(route.requested, target);
}

/** The day a version is named by, else when its price was entered, else when the gateway got its first prices. */
function createdSeconds(name: string, priced: PricedModel | undefined, seededMs: number): number {
  return Math.floor((readReleaseMs(name) ?? priced?.updatedAtMs ?? seededMs) / 1000);
}

function earliest(models: readonly PricedModel[]): number {
  const times = models.flatMap(({ updatedAtMs }) => updatedAtMs ?? []);
  return times.length === 0 ? FIRST_RELEASE_MS : times.reduce((least, ms) => Math.min(least, ms));
}

/** Without a release time, the day of this gateway's first version. */
const FIRST_RELEASE_MS = Date.UTC(2026, 0, 1);

const ALIAS_OWNER = 'alias';

function aliasModels(tables: RoutingTables, key: ApiKey, seededMs: number): readonly ModelCard[] {
  return tables.aliases.list(key.projectId).flatMap(({ name, targets, projectId }): ModelCard[] => {
    const isNamed = isModelAllowed(key, [name]);
    const mayAsk = (target: Target) => {
      const names = [target.model, targetKey(target)];
      if (levelWithout(key, target.provider) !== undefined) return false;
      return (isNamed || isModelAllowed(key, names)) && (projectId === null || isWithinLevels(key, names));
    };
    const first = findRoute(name, tables, key.projectId)?.targets.find(mayAsk);
    if (first === undefined) return [];
    const created = createdSeconds(first.model, first.priced, seededMs);
    const shared = { id: name, object: 'model', created, owned_by: ALIAS_OWNER } as const;
    return [{ ...shared, ...describeModel(first.priced), targets: targets.filter(mayAsk).map(targetKey) }];
  });
}

/** undefined where no target can be called right now. */
function findRoute(name: string, tables: RoutingTables, projectId: string): Route | undefined {
  try {
    return resolveTargets(name, tables, projectId);
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}
