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
  /** Has no host of its own to fall back to. */
  readonly needsBaseUrl?: boolean;
}

/** Variable names by provider; adding a compatible cloud is one line here and one overrides file. */
const PROVIDER_ENV: readonly EnvNames[] = [
  { name: 'openai', apiKey: 'OPENAI_API_KEY', baseUrl: 'OPENAI_BASE_URL' },
  { name: 'anthropic', apiKey: 'ANTHROPIC_API_KEY', baseUrl: 'ANTHROPIC_BASE_URL' },
  { name: 'gemini', apiKey: 'GEMINI_API_KEY', baseUrl: 'GEMINI_BASE_URL' },
  {
    name: 'azure',
    apiKey: 'AZURE_OPENAI_API_KEY',
    baseUrl: 'AZURE_OPENAI_ENDPOINT',
    needsBaseUrl: true,
  },
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
    if (names.needsBaseUrl === true && baseUrl === undefined) {
      throw new ConfigError(names.baseUrl, '', `a URL is needed beside ${names.apiKey}`);
    }
    if (apiKey !== undefined && /[^\x21-\x7e]/.test(apiKey)) {
      throw new ConfigError(names.apiKey ?? '', '***', 'visible ASCII characters without spaces are needed');
    }
    found.push({ name: names.name, apiKey, baseUrl });
  }
  return found;
}
