import { ConfigError, type EnvReader } from './config-values';

/** A provider as the environment configures it. */
export interface ProviderSetting {
  readonly name: string;
  readonly apiKey?: string;
  /** Absent = the vendor's own. */
  readonly baseUrl?: string;
  readonly options?: Readonly<Record<string, string>>;
}

interface EnvNames {
  readonly name: string;
  readonly apiKey?: string;
  readonly baseUrl: string;
  /** Configured by its base URL alone (nothing to authenticate against). */
  readonly keyless?: boolean;
}

/** Variable names by provider; adding a compatible cloud is one line here and one overrides file. */
const PROVIDER_ENV: readonly EnvNames[] = [
  { name: 'openai', apiKey: 'OPENAI_API_KEY', baseUrl: 'OPENAI_BASE_URL' },
  { name: 'anthropic', apiKey: 'ANTHROPIC_API_KEY', baseUrl: 'ANTHROPIC_BASE_URL' },
  { name: 'gemini', apiKey: 'GEMINI_API_KEY', baseUrl: 'GEMINI_BASE_URL' },
  { name: 'ollama', baseUrl: 'OLLAMA_BASE_URL', keyless: true },
  ...['groq', 'together', 'deepseek', 'xai', 'mistral', 'openrouter', 'fireworks'].map((name) => ({
    name,
    apiKey: `${name.toUpperCase()}_API_KEY`,
    baseUrl: `${name.toUpperCase()}_BASE_URL`,
  })),
];

/** Every provider the environment gives a key (or, without keys, a URL) for. */
export function readProviderSettings(read: EnvReader): readonly ProviderSetting[] {
  const found: ProviderSetting[] = [];
  for (const names of PROVIDER_ENV) {
    const apiKey = names.apiKey === undefined ? undefined : read.text(names.apiKey);
    const baseUrl = read.url(names.baseUrl);
    if (names.keyless === true ? baseUrl === undefined : apiKey === undefined) continue;
    if (apiKey !== undefined && /[^\x21-\x7e]/.test(apiKey)) {
      throw new ConfigError(names.apiKey ?? '', '***', 'visible ASCII characters without spaces are needed');
    }
    found.push({ name: names.name, apiKey, baseUrl });
  }
  return found;
}
