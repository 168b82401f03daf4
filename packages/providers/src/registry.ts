import { anthropic } from './anthropic/index';
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
  ollama,
  demo,
];

/** A provider together with the model's name there. */
export interface DetectedModel {
  readonly provider: Provider;
  readonly model: string;
}

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

  /**
   * Who serves a model, by its name alone: `provider/model` where the prefix is a provider's name (model names may hold
   * slashes themselves), else the provider whose pattern matches the longest part of the name.
   */
  detect(name: string): DetectedModel | undefined {
    const slash = name.indexOf('/');
    const prefixed = slash > 0 && slash < name.length - 1 ? this.byName.get(name.slice(0, slash)) : undefined;
    if (prefixed !== undefined) return { provider: prefixed, model: name.slice(slash + 1) };
    let best: { provider: Provider; length: number } | undefined;
    for (const provider of this.byName.values()) {
      const length = matchedLength(provider, name);
      if (length > (best?.length ?? 0)) best = { provider, length };
    }
    return best === undefined ? undefined : { provider: best.provider, model: name };
  }
}

function matchedLength(provider: Provider, name: string): number {
  return Math.max(0, ...provider.modelPatterns.map((pattern) => pattern.exec(name)?.[0].length ?? 0));
}

export function createProviderRegistry(providers: readonly Provider[] = DEFAULT_PROVIDERS): ProviderRegistry {
  return new ProviderRegistry(providers);
}
