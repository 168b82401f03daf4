import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { plainDecimal } from '../../admin/fields/json-money';
import { type AddNote, asNumber, type PlannedPrice, type UnpricedModel } from './import-plan';
import type { PlacedDeployment } from './plan-providers';
import { PRICES } from './price-fields';
import { readModelName } from './vendors';

const MODES = new Set(['chat', 'embedding', 'completion', 'responses']);
const DECIMALS = 6;

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
    const fields = readPrices({ ...info, ...params });
    if (Object.keys(fields).length === 0) {
      if (!isVendor && !model.includes('*')) unpriced.set(name, { provider, model, base: readBase(info) });
      continue;
    }
    const mode = typeof info.mode === 'string' && MODES.has(info.mode) ? info.mode : undefined;
    const { input_usd_per_million: input, output_usd_per_million: output } = fields;
    if (input === undefined || (output === undefined && mode !== 'embedding')) {
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

function readPrices(said: JsonObject): JsonObject {
  const fields: JsonObject = {};
  for (const [name, field] of Object.entries(PRICES)) {
    const perMillion = perMillionOf(asNumber(said[name]));
    if (perMillion !== undefined) fields[`${field}_usd_per_million`] = perMillion;
  }
  return fields;
}

/** Exact text, rounded half up to the precision of prices; undefined for an invalid price. */
export function perMillionOf(perToken: number | undefined): string | undefined {
  if (perToken === undefined || perToken < 0 || perToken > 1) return undefined;
  const [mantissa = '0', exponent = '0'] = String(perToken).split('e');
  const [whole = '0', fraction = ''] = plainDecimal(`${mantissa}e${Number(exponent) + DECIMALS}`).split('.');
  const scaled = (BigInt(whole + fraction.padEnd(DECIMALS + 1, '0').slice(0, DECIMALS + 1)) + 5n) / 10n;
  const digits = String(scaled).padStart(DECIMALS + 1, '0');
  return `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`;
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
