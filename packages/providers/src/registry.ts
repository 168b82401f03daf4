import { anthropic } from './anthropic/index';
import { bedrock } from './bedrock/index';
import { demo } from './demo/index';
import { gemini } from './gemini/index';
import { openai } from './openai/index';
import { azure } from './openai-compatible/azure';
import { deepseek } from './openai-compatible/deepseek';
import { fireworks } from './openai-compatible/fireworks';
import { groq } from './openai-compatible/groq';
import { mistral } from './openai-compatible/mistral';
import { ollama } from './openai-compatible/ollama';
import { openrouter } from './openai-compatible/openrouter';
import { together } from './openai-compatible/together';
import { xai } from './openai-compatible/xai';
import type { Provider } from './provider';

/** Every provider the gateway knows, in the order in which names are tried. */
const DEFAULT_PROVIDERS: readonly Provider[] = [
  openai,
  anthropic,
  gemini,
  groq,
  together,
  deepseek,
  xai,
  mistral,
  openrouter,
  fireworks,
  azure,
  bedrock,
  ollama,
  demo,
];

/** Providers by name. */
export class ProviderRegistry {
  private readonly byName: ReadonlyMap<string, Provider>;

  constructor(providers: readonly Provider[]) {
    this.byName = new Map(providers.map((provider) => [provider.name, provider]));
  }

  get(name: string): Provider | undefined {
    return this.byName.get(name);
  }

  list(): readonly Provider[] {
    return [...this.byName.values()];
  }

  /** Providers that answer in process and need no account. */
  builtIn(): readonly Provider[] {
    return this.list().filter((provider) => provider.respondLocally !== undefined);
  }
}

export function createProviderRegistry(providers: readonly Provider[] = DEFAULT_PROVIDERS): ProviderRegistry {
  return new ProviderRegistry(providers);
}
