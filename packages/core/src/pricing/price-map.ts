/**
 * Prices of LiteLLM's map, in the fields of the admin API: USD per million tokens or characters, else USD per unit.
 * Source: https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json
 */
const TOKENS: Readonly<Record<string, string>> = {
  input_cost_per_token: 'input',
  output_cost_per_token: 'output',
  cache_read_input_token_cost: 'cache_read',
  cache_creation_input_token_cost: 'cache_write',
  cache_creation_input_token_cost_above_1hr: 'cache_write_1h',
  output_cost_per_reasoning_token: 'reasoning',
  input_cost_per_audio_token: 'input_audio',
  cache_read_input_audio_token_cost: 'cache_read_audio',
  output_cost_per_audio_token: 'output_audio',
  input_cost_per_image_token: 'input_image',
  output_cost_per_image_token: 'output_image',
  input_cost_per_character: 'character',
  ...variants('input_cost_per_token', 'input'),
  ...variants('output_cost_per_token', 'output'),
  ...variants('cache_read_input_token_cost', 'cache_read'),
  ...variants('cache_creation_input_token_cost', 'cache_write'),
};
const UNITS: Readonly<Record<string, string>> = {
  output_cost_per_image: 'image',
  input_cost_per_second: 'second',
  ocr_cost_per_page: 'page',
  input_cost_per_query: 'search',
};

function variants(theirs: string, ours: string): Record<string, string> {
  const long = ['128k', '200k', '272k'].map((size) => [`${theirs}_above_${size}_tokens`, `${ours}_above_${size}`]);
  const tiers = ['priority', 'flex'].map((tier) => [`${theirs}_${tier}`, `${ours}_${tier}`]);
  return Object.fromEntries([...long, ...tiers, [`${theirs}_batches`, `${ours}_batch`]]);
}

/** Names of prices that an import takes. */
export const MAP_PRICES: readonly string[] = [...Object.keys(TOKENS), ...Object.keys(UNITS)];

/** Their modes that have another name here. */
const MODES_THERE: Readonly<Record<string, string>> = {
  ...{ image_generation: 'image', audio_transcription: 'transcription', audio_speech: 'speech' },
};
export const modeOfMap = (mode: string): string => MODES_THERE[mode] ?? mode;

/** Prices of one model of a map. */
export interface MapPrices {
  /** Admin field → exact decimal. */
  readonly fields: Readonly<Record<string, string>>;
  /** Names of prices that have no place here. */
  readonly lost: readonly string[];
}

/** Reads every price. Zero costs nothing anywhere, so it needs no place. */
export function readMapPrices(entry: Readonly<Record<string, unknown>>): MapPrices {
  const fields: Record<string, string> = {};
  const lost: string[] = [];
  for (const [name, value] of Object.entries(entry)) {
    const [token, unit] = [TOKENS[name], UNITS[name]];
    if (value == null) continue;
    if (token === undefined && unit === undefined) {
      if (COST.test(name) && value !== 0) lost.push(name);
      continue;
    }
    const usd = Number(value === '' ? Number.NaN : value);
    const decimal =
      token === undefined ? exactDecimal(usd, 0, UNIT_DECIMALS) : exactDecimal(usd, MILLION, TOKEN_DECIMALS);
    if (decimal === undefined) lost.push(name);
    else fields[token === undefined ? `${unit}_usd` : `${token}_usd_per_million`] = decimal;
  }
  return { fields, lost };
}

const COST = /(?:^|_)cost(?:_|$)/;
const MILLION = 6;
const TOKEN_DECIMALS = 6;
const UNIT_DECIMALS = 12;
const MOST_EXPONENT = 30;

/** `value` × 10^`power`, rounded half up to so many decimals; undefined for no price. */
export function exactDecimal(value: number, power: number, decimals: number): string | undefined {
  if (!(value >= 0 && value <= 1000)) return undefined;
  const [mantissa = '0', exponent = '0'] = String(value).split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  const shift = Number(exponent) + power + decimals - fraction.length;
  if (shift < -MOST_EXPONENT) return '0';
  const digits = BigInt(whole + fraction);
  const scaled =
    shift >= 0 ? digits * 10n ** BigInt(shift) : (digits * 2n + 10n ** BigInt(-shift)) / (2n * 10n ** BigInt(-shift));
  const text = String(scaled).padStart(decimals + 1, '0');
  const rest = text.slice(-decimals).replace(/0{1,12}$/, '');
  return `${text.slice(0, -decimals)}${rest === '' ? '' : `.${rest}`}`;
}
