import { invalidRequest } from '@llm0/core/errors/gateway-error';
import { MODES, type PricedModel } from '@llm0/core/pricing/price-book';
import { DISCOUNT, isUnitPrice } from '@llm0/core/pricing/unit-prices';
import type { ModelCard } from '../dialects/dialect';

type Described = Omit<ModelCard, 'id' | 'object' | 'created' | 'owned_by' | 'targets'>;

/** What the price book says of a model. */
export function describeModel(priced: PricedModel | undefined): Described {
  if (priced === undefined) return { capabilities: [] };
  const { mode, contextWindow, maxOutputTokens, capabilities, deprecationDate } = priced;
  return {
    ...{ mode, context_window: contextWindow, max_output_tokens: maxOutputTokens, capabilities },
    ...modalitiesOf(priced),
    ...(deprecationDate === undefined ? {} : { retires_at: deprecationDate }),
    pricing: showPrices(priced),
  };
}

type Modalities = readonly [input: readonly string[], output: readonly string[]];

/** Of a mode; chat models say more about themselves. */
const BY_MODE: Readonly<Record<string, Modalities>> = {
  embedding: [['text'], ['embedding']],
  image: [['text'], ['image']],
  transcription: [['audio'], ['text']],
  speech: [['text'], ['audio']],
  moderation: [['text'], ['moderation']],
  rerank: [['text'], ['ranking']],
  realtime: [
    ['text', 'audio'],
    ['text', 'audio'],
  ],
};
const TEXT: Modalities = [['text'], ['text']];
const INPUTS = ['text', 'image', 'audio', 'file'];
const OUTPUTS = ['text', 'image', 'audio', 'embedding', 'moderation', 'ranking'];

function modalitiesOf({ mode, capabilities, prices }: PricedModel) {
  const [input, output] = BY_MODE[mode] ?? TEXT;
  const more = (base: readonly string[], others: Readonly<Record<string, boolean>>) => [
    ...new Set([...base, ...Object.keys(others).filter((name) => others[name])]),
  ];
  return {
    input_modalities: more(input, {
      image: capabilities.includes('vision') || prices.input_image !== undefined,
      audio: capabilities.includes('audio_input') || prices.input_audio !== undefined,
      file: capabilities.includes('pdf_input'),
    }),
    output_modalities: more(output, {
      image: prices.output_image !== undefined,
      audio: prices.output_audio !== undefined,
      ranking: capabilities.includes('rerank'),
    }),
  };
}

const PICO_PER_USD = 1e12;
const PICO_PER_TOKEN_IN_USD_PER_MILLION = 1e6;
const PARTS = 1e6;

/** In the admin API's names. */
function showPrices({ prices }: PricedModel): Record<string, number> {
  const table: Record<string, number> = {};
  for (const [name, pico] of Object.entries(prices)) {
    if (pico === undefined) continue;
    if (name === DISCOUNT) table[name] = pico / PARTS;
    else if (isUnitPrice(name)) table[`${name}_usd`] = pico / PICO_PER_USD;
    else table[`${name}_usd_per_million`] = pico / PICO_PER_TOKEN_IN_USD_PER_MILLION;
  }
  return table;
}

interface ModelFilter {
  readonly description: string;
  /** All that it takes; absent where anything may be asked for. */
  readonly values?: readonly string[];
  readonly passes: (model: ModelCard, value: string) => boolean;
}

/** Filters of `GET /v1/models`; a repeated one must hold for each of its values. */
export const MODEL_FILTERS: Readonly<Record<string, ModelFilter>> = {
  mode: { description: '`chat`, `embedding`, `image`, …', values: MODES, passes: ({ mode }, value) => mode === value },
  provider: { description: '`owned_by`', passes: ({ owned_by: owner }, value) => owner === value },
  capability: {
    description: 'A feature, such as `vision`',
    passes: ({ capabilities }, value) => capabilities.includes(value),
  },
  input_modality: {
    description: '`text`, `image`, `audio` or `file`',
    values: INPUTS,
    passes: ({ input_modalities: input = [] }, value) => input.includes(value),
  },
  output_modality: {
    description: '`text`, `image`, `audio`, …',
    values: OUTPUTS,
    passes: ({ output_modalities: output = [] }, value) => output.includes(value),
  },
  min_context: {
    description: 'Least context window, tokens',
    passes: ({ context_window: window = 0 }, value) => window >= Number(value),
  },
};

/** Clients send their version along. */
const OF_CLIENTS: ReadonlySet<string> = new Set(['client_version', 'api-version']);

/**
 * Models that pass all filters of the query. `others`: the dialect's own parameters. Throws for an unknown one, for a
 * value that none can have, and for a `min_context` that is no number.
 */
export function filterModels(
  models: readonly ModelCard[],
  query: URLSearchParams,
  others: readonly string[] = [],
): readonly ModelCard[] {
  const known = [...Object.keys(MODEL_FILTERS), ...others];
  for (const name of query.keys()) {
    if (known.includes(name) || OF_CLIENTS.has(name)) continue;
    throw invalidRequest(name, `There is no filter "${name.slice(0, 100)}". Use ${known.join(', ')}.`);
  }
  const given = Object.entries(MODEL_FILTERS).flatMap(([name, { passes, values }]) =>
    query.getAll(name).map((value) => {
      if (values?.includes(value) !== false) return { passes, value };
      throw invalidRequest(name, `"${name}" must be one of ${values.join(', ')}.`);
    }),
  );
  if (given.length === 0) return models;
  if (query.getAll('min_context').some((value) => !/^\d{1,15}$/.test(value))) {
    throw invalidRequest('min_context', '"min_context" must be a whole number of tokens.');
  }
  return models.filter((model) => given.every(({ passes, value }) => passes(model, value)));
}
