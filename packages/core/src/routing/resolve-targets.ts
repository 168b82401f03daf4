import { GatewayError } from '../errors/gateway-error';
import type { PriceBook } from '../pricing/price-book';
import { type Target, targetKey } from './target';

/** A provider that can be called right now. */
export interface ConfiguredProvider {
  readonly name: string;
  readonly modelPatterns: readonly RegExp[];
  /** Model names it listed by itself (local model servers). */
  readonly liveModels: ReadonlySet<string>;
}

/** Everything needed to turn a model name into targets; replaced as a whole in the background, never awaited. */
export interface RoutingTables {
  readonly providers: ReadonlyMap<string, ConfiguredProvider>;
  readonly prices: PriceBook;
}

export interface Route {
  /** Names the route in cache keys: its first configured target. */
  readonly scope: string;
  /** In the order they are tried; never empty. */
  readonly targets: readonly [Target, ...Target[]];
}

/** Model name as asked for → where it may be sent. Throws `model_not_found` with near names. */
export function resolveTargets(model: string, tables: RoutingTables): Route {
  const first = explicitTarget(model, tables) ?? detectTarget(model, tables);
  if (first === undefined) throw unknownModel(model, tables);
  return { scope: targetKey(first), targets: [first] };
}

/** `provider/model`, when the prefix names a configured provider (model names may contain slashes themselves). */
function explicitTarget(model: string, tables: RoutingTables): Target | undefined {
  const slash = model.indexOf('/');
  if (slash <= 0 || slash === model.length - 1) return undefined;
  const provider = tables.providers.get(model.slice(0, slash));
  return provider === undefined ? undefined : { provider: provider.name, model: model.slice(slash + 1) };
}

/** By what a provider lists or its name pattern first, then by who has a price for it. */
function detectTarget(model: string, tables: RoutingTables): Target | undefined {
  for (const provider of tables.providers.values()) {
    if (provider.liveModels.has(model)) return { provider: provider.name, model };
  }
  for (const provider of tables.providers.values()) {
    if (provider.modelPatterns.some((pattern) => pattern.test(model))) return { provider: provider.name, model };
  }
  for (const provider of tables.providers.values()) {
    if (tables.prices.isListed(provider.name, model)) return { provider: provider.name, model };
  }
  return undefined;
}

const NEAR_NAMES_SHOWN = 3;
const NAME_SHOWN_CHARACTERS = 120;

function unknownModel(model: string, tables: RoutingTables): GatewayError {
  const near = nearNames(model, tables);
  const shown = model.length > NAME_SHOWN_CHARACTERS ? `${model.slice(0, NAME_SHOWN_CHARACTERS)}…` : model;
  const hint = near.length > 0 ? ` Did you mean ${near.join(', ')}?` : ' GET /v1/models lists what this key can call.';
  return new GatewayError('model_not_found', `No configured provider offers the model "${shown}".${hint}`, {
    param: 'model',
  });
}

/** The callable names closest to the one asked for, by shared letter pairs. */
export function nearNames(model: string, tables: RoutingTables): readonly string[] {
  const wanted = letterPairs(model.slice(0, NAME_SHOWN_CHARACTERS));
  const scored: { name: string; score: number }[] = [];
  const consider = (name: string) => {
    const score = similarity(wanted, letterPairs(name));
    if (score >= 0.5) scored.push({ name, score });
  };
  for (const priced of tables.prices.list()) if (tables.providers.has(priced.provider)) consider(priced.model);
  for (const provider of tables.providers.values()) for (const name of provider.liveModels) consider(name);
  scored.sort((a, b) => b.score - a.score || a.name.length - b.name.length);
  return [...new Set(scored.map((entry) => entry.name))].slice(0, NEAR_NAMES_SHOWN);
}

function letterPairs(text: string): ReadonlySet<string> {
  const pairs = new Set<string>();
  const lower = text.toLowerCase();
  for (let i = 0; i < lower.length - 1; i++) pairs.add(lower.slice(i, i + 2));
  return pairs;
}

/** Dice coefficient of two pair sets, 0–1. */
function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0) return 0;
  let shared = 0;
  for (const pair of a) if (b.has(pair)) shared += 1;
  return (2 * shared) / (a.size + b.size);
}
