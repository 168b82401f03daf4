import { GatewayError } from '../errors/gateway-error';
import type { RoutingTables } from './routing-tables';

const NEAR_NAMES_SHOWN = 3;
const NAME_SHOWN_CHARACTERS = 120;
const MIN_SIMILARITY = 0.5;

/** `model_not_found` with the callable names closest to the one asked for. */
export function unknownModel(model: string, tables: RoutingTables, projectId: string): GatewayError {
  const near = nearNames(model, tables, projectId);
  const hint = near.length > 0 ? ` Did you mean ${near.join(', ')}?` : ' GET /v1/models lists what this key can call.';
  return new GatewayError('model_not_found', `No configured provider offers the model "${shownName(model)}".${hint}`, {
    param: 'model',
  });
}

/** A name as error messages show it. */
export function shownName(model: string): string {
  return model.length > NAME_SHOWN_CHARACTERS ? `${model.slice(0, NAME_SHOWN_CHARACTERS)}…` : model;
}

/** The callable names closest to the one asked for, by shared letter pairs. */
export function nearNames(model: string, tables: RoutingTables, projectId: string): readonly string[] {
  const wanted = letterPairs(model.slice(0, NAME_SHOWN_CHARACTERS));
  const scored: { name: string; score: number }[] = [];
  const consider = (name: string) => {
    const score = similarity(wanted, letterPairs(name));
    if (score >= MIN_SIMILARITY) scored.push({ name, score });
  };
  for (const priced of tables.prices.list()) if (tables.providers.has(priced.provider)) consider(priced.model);
  for (const provider of tables.providers.values()) for (const name of provider.liveModels) consider(name);
  for (const alias of tables.aliases.list(projectId)) consider(alias.name);
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
  return a.size === 0 || b.size === 0 ? 0 : (2 * a.intersection(b).size) / (a.size + b.size);
}
