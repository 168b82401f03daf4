import { anthropic } from './anthropic/index';
import { bedrock } from './bedrock/index';
import { cohere } from './cohere/index';
import { demo } from './demo/index';
import { gemini } from './gemini/index';
import { openai } from './openai/index';
import { azure } from './openai-compatible/azure';
import { COMPATIBLE_CLOUDS } from './openai-compatible/clouds';
import { ollama } from './openai-compatible/ollama';
import type { Provider } from './provider';
import { vertex } from './vertex/index';

/** Every provider the gateway knows, in the order in which names are tried. */
const DEFAULT_PROVIDERS: readonly Provider[] = [
  openai,
  anthropic,
  gemini,
  ...COMPATIBLE_CLOUDS,
  cohere,
  azure,
  bedrock,
  vertex,
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
