import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { MODES, missingPrice } from '@llm0/core/pricing/price-book';
import { modeOfMap, readMapPrices } from '@llm0/core/pricing/price-map';
import { type AddNote, asNumber, type PlannedPrice, type UnpricedModel } from './import-plan';
import type { PlacedDeployment } from './plan-providers';
import { readModelName } from './vendors';

export interface PlannedPrices {
  readonly prices: readonly PlannedPrice[];
  readonly unpriced: readonly UnpricedModel[];
}

/** Prices and limits that the file has for its deployments, and names that only the file knows without one. */
export function planPrices(placed: readonly PlacedDeployment[], note: AddNote): PlannedPrices {
  const prices = new Map<string, PlannedPrice>();
  const unpriced = new Map<string, UnpricedModel>();
  for (const { at, provider, model, info, params, isVendor } of placed) {
    const name = `${provider}/${model}`;
    const { fields, lost } = readMapPrices({ ...info, ...params });
    if (lost.length > 0) note('left out', at, `${lost.join(', ')}: the gateway has no such price`);
    if (Object.keys(fields).length === 0) {
      if (!isVendor && !model.includes('*')) unpriced.set(name, { provider, model, base: readBase(info) });
      continue;
    }
    const told = typeof info.mode === 'string' ? modeOfMap(info.mode) : undefined;
    const mode = MODES.find((one) => one === told);
    if (missingPrice(mode ?? 'chat', (field) => fields[field] !== undefined) !== undefined) {
      note('left out', at, 'its price is incomplete: input_cost_per_token and output_cost_per_token are required');
      continue;
    }
    const limits = {
      context_window: asCount(info.max_input_tokens),
      max_output_tokens: asCount(info.max_output_tokens),
    };
    prices.set(name, { provider, model, ...fields, ...given({ ...limits, mode }) });
  }
  return {
    prices: [...prices.values()],
    unpriced: [...unpriced].flatMap(([name, one]) => (prices.has(name) ? [] : [one])),
  };
}

/** The vendor's name for a deployment's base model. */
function readBase({ base_model: base }: JsonObject): UnpricedModel['base'] {
  const named = typeof base === 'string' ? readModelName(base, undefined) : undefined;
  return named !== undefined && 'known' in named.vendor
    ? { provider: named.vendor.known, model: named.model }
    : undefined;
}

function asCount(value: JsonValue | undefined): number | undefined {
  const number = asNumber(value);
  return number !== undefined && Number.isInteger(number) && number > 0 ? number : undefined;
}

function given(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const sent: JsonObject = {};
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) sent[name] = value;
  return sent;
}
