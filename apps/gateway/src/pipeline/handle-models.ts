import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { ApiKey } from '@llm0/core/keys/api-key';
import type { PricedModel } from '@llm0/core/pricing/price-book';
import { type Route, type RoutingTables, resolveTargets, targetsOf } from '@llm0/core/routing/resolve-targets';
import { targetKey } from '@llm0/core/routing/target';
import { openaiChat } from '../dialects/openai-chat/index';
import type { Services } from '../services-type';
import { authenticate, reloadPrincipal } from './authenticate';
import { isModelAllowed } from './plan-request';
import { asGatewayError, respondError } from './respond-error';

/** A model as `GET /v1/models` shows it: OpenAI's fields, then what the price book knows of it or its first target. */
interface ShownModel {
  readonly id: string;
  readonly object: 'model';
  readonly created: number;
  readonly owned_by: string;
  readonly context_window?: number;
  readonly max_output_tokens?: number;
  readonly capabilities: readonly string[];
  readonly pricing?: Readonly<Record<string, number>>;
  /** Of an alias: `provider/model` of each target. */
  readonly targets?: readonly string[];
}

type Needs = Pick<Services, 'keyCache' | 'clock' | 'routing' | 'createId' | 'log'>;

/** `GET /v1/models`: what this key may call. */
export function listModels(services: Needs, request: Request): Promise<Response> {
  return answer(services, request, (key) => ({ object: 'list', data: callableModels(services.routing(), key) }));
}

/** `GET /v1/models/{id}` */
export function showModel(services: Needs, request: Request, id: string): Promise<Response> {
  return answer(services, request, (key) => {
    const found = callableModels(services.routing(), key).find(
      (model) => model.id === id || `${model.owned_by}/${model.id}` === id,
    );
    if (found === undefined) {
      throw new GatewayError('model_not_found', `This key cannot call a model "${id.slice(0, 120)}".`, {
        param: 'model',
      });
    }
    return found;
  });
}

/** The key is read anew each time: no admission stands behind this answer to notice a revoked one. */
async function answer(services: Needs, request: Request, build: (key: ApiKey) => unknown): Promise<Response> {
  const requestId = services.createId();
  try {
    const { keyHash } = await authenticate(services, request);
    const { key } = await reloadPrincipal(services, keyHash);
    return Response.json(build(key), { headers: { 'X-Request-Id': requestId } });
  } catch (cause) {
    return respondError(asGatewayError(cause, services.log), { requestId, dialect: openaiChat });
  }
}

const CHAT_MODES = new Set(['chat', 'responses']);

/**
 * Every model of a configured provider that the key may call and the failover mode allows, and the project's aliases; a
 * name two providers share gets its provider in front.
 */
export function callableModels(allTables: RoutingTables, key: ApiKey): readonly ShownModel[] {
  const tables = allTables.forProject(key.projectId);
  const shown = new Map<string, ShownModel>();
  const add = (provider: string, name: string, priced: PricedModel | undefined) => {
    const id = shown.has(name) ? `${provider}/${name}` : name;
    if (!isModelAllowed(key, [name, `${provider}/${name}`])) return;
    if (targetsOf({ provider, model: name }, tables).length === 0) return;
    shown.set(id, { id, object: 'model', created: 0, owned_by: provider, ...describe(priced) });
  };
  for (const provider of tables.providers.values()) {
    for (const name of provider.liveModels) add(provider.name, name, tables.prices.find(provider.name, name));
  }
  for (const priced of tables.prices.list()) {
    const provider = tables.providers.get(priced.provider);
    if (provider === undefined || provider.liveModels.has(priced.model) || !CHAT_MODES.has(priced.mode)) continue;
    add(provider.name, priced.model, priced);
  }
  for (const alias of aliasModels(tables, key)) shown.set(alias.id, alias);
  return [...shown.values()];
}

const ALIAS_OWNER = 'alias';

function aliasModels(tables: RoutingTables, key: ApiKey): readonly ShownModel[] {
  return tables.aliases.list(key.projectId).flatMap(({ name, targets }): ShownModel[] => {
    if (!isModelAllowed(key, [name, ...targets.flatMap((one) => [one.model, targetKey(one)])])) return [];
    const route = findRoute(name, tables, key.projectId);
    if (route === undefined) return [];
    const described = describe(route.targets[0].priced);
    return [
      { id: name, object: 'model', created: 0, owned_by: ALIAS_OWNER, ...described, targets: targets.map(targetKey) },
    ];
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

function describe(priced: PricedModel | undefined) {
  return {
    context_window: priced?.contextWindow,
    max_output_tokens: priced?.maxOutputTokens,
    capabilities: priced?.capabilities ?? [],
    pricing: priced && usdPerMillion(priced),
  };
}

const PICO_PER_TOKEN_IN_USD_PER_MILLION = 1e6;

function usdPerMillion(priced: PricedModel): Record<string, number> {
  const table: Record<string, number> = {};
  for (const [name, pico] of Object.entries(priced.prices)) {
    if (pico !== undefined) table[`${name}_usd_per_million`] = pico / PICO_PER_TOKEN_IN_USD_PER_MILLION;
  }
  return table;
}
