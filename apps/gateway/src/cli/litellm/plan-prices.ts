import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { plainDecimal } from '../../admin/fields/json-money';
import { type AddNote, asNumber, type PlannedPrice } from './import-plan';
import type { PlacedDeployment } from './plan-providers';

/** Dollars a token there → dollars a million tokens here. */
const PRICES: Readonly<Record<string, string>> = {
  input_cost_per_token: 'input',
  output_cost_per_token: 'output',
  cache_read_input_token_cost: 'cache_read',
  cache_creation_input_token_cost: 'cache_write',
  output_cost_per_reasoning_token: 'reasoning',
  input_cost_per_audio_token: 'input_audio',
  output_cost_per_audio_token: 'output_audio',
  input_cost_per_token_above_128k_tokens: 'input_above_128k',
  output_cost_per_token_above_128k_tokens: 'output_above_128k',
  input_cost_per_token_above_200k_tokens: 'input_above_200k',
  output_cost_per_token_above_200k_tokens: 'output_above_200k',
};
const MODES = new Set(['chat', 'embedding', 'completion', 'responses']);
const DECIMALS = 6;

/** Prices and limits that the file has for its deployments; those without a price stay as the gateway knows them. */
export function planPrices(placed: readonly PlacedDeployment[], note: AddNote): readonly PlannedPrice[] {
  const prices = new Map<string, PlannedPrice>();
  const unpriced = new Set<string>();
  for (const { at, provider, model, info, params, isVendor } of placed) {
    const said = { ...info, ...params };
    const fields = readPrices(said);
    if (Object.keys(fields).length === 0) {
      if (!isVendor && !model.includes('*')) unpriced.add(`${provider}/${model}`);
      continue;
    }
    const mode = typeof info.mode === 'string' && MODES.has(info.mode) ? info.mode : undefined;
    if (
      fields.input_usd_per_million === undefined ||
      (fields.output_usd_per_million === undefined && mode !== 'embedding')
    ) {
      note('left out', at, 'its price is not whole: input_cost_per_token and output_cost_per_token are needed');
      continue;
    }
    const limits = {
      context_window: asCount(info.max_input_tokens),
      max_output_tokens: asCount(info.max_output_tokens),
    };
    prices.set(`${provider}/${model}`, { provider, model, ...fields, ...given({ ...limits, mode }) });
  }
  for (const name of unpriced) {
    if (!prices.has(name))
      note('set yourself', 'price', `of ${name}, else it is refused under a cap: "llm0 models set"`);
  }
  return [...prices.values()];
}

function readPrices(said: JsonObject): JsonObject {
  const fields: JsonObject = {};
  for (const [name, field] of Object.entries(PRICES)) {
    const perMillion = perMillionOf(asNumber(said[name]));
    if (perMillion !== undefined) fields[`${field}_usd_per_million`] = perMillion;
  }
  return fields;
}

/** Exactly, as text, rounded half up to what prices have here; undefined for what is no price. */
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
