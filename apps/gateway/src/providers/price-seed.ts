import type { PricedModel, TokenPrices } from '@llm0/core/pricing/price-book';

/** A line of `packages/core/data/models.json`. */
interface SeedModel {
  readonly provider: string;
  readonly model: string;
  readonly mode: string;
  readonly pico_usd_per_token: TokenPrices;
  readonly context_window?: number;
  readonly max_output_tokens?: number;
  readonly capabilities?: readonly string[];
  readonly deprecation_date?: string;
  readonly source?: string;
}

const FILES = ['@llm0/core/data/models.json', '@llm0/core/data/built-in-models.json'] as const;

/** The shipped prices and a hash of them, so that a start writes them only when they changed. */
export async function readPriceSeed(): Promise<{ readonly models: readonly PricedModel[]; readonly hash: string }> {
  const hasher = new Bun.CryptoHasher('sha256');
  const models: PricedModel[] = [];
  for (const file of FILES) {
    const text = await Bun.file(import.meta.resolve(file).replace(/^file:\/\//, '')).text();
    hasher.update(text);
    models.push(...(JSON.parse(text) as SeedModel[]).map(toPricedModel));
  }
  return { models: [...models, ...models.flatMap(onVertex)], hash: hasher.update(VERTEX_SOURCE).digest('hex') };
}

const VERTEX_SOURCE = 'https://cloud.google.com/vertex-ai/generative-ai/pricing';
const CLAUDE_VERSION = /^(claude-.+)-(\d{8})$/;

/** The global endpoint of Vertex AI has the prices of Gemini's and Claude's own APIs. */
function onVertex(model: PricedModel): PricedModel[] {
  const isServed = model.provider === 'gemini' ? model.model.startsWith('gemini-') : model.provider === 'anthropic';
  if (!isServed || model.mode !== 'chat') return [];
  return [{ ...model, provider: 'vertex', model: model.model.replace(CLAUDE_VERSION, '$1@$2'), source: VERTEX_SOURCE }];
}

function toPricedModel(seed: SeedModel): PricedModel {
  return {
    provider: seed.provider,
    model: seed.model,
    mode: seed.mode,
    prices: seed.pico_usd_per_token,
    contextWindow: seed.context_window,
    maxOutputTokens: seed.max_output_tokens,
    capabilities: seed.capabilities ?? [],
    deprecationDate: seed.deprecation_date,
    source: seed.source,
  };
}
