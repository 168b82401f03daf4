import { readFederations } from './federations';
import { ConfigError, type EnvReader } from './values';

/** A provider as the environment configures it. */
export interface ProviderSetting {
  readonly name: string;
  readonly apiKey?: string;
  /** Used when the previous key is refused or rests. */
  readonly furtherKeys?: readonly string[];
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

/** Variable names by provider; adding a compatible cloud is one line here and one entry of its table. */
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
  ...['groq', 'together', 'deepseek', 'xai', 'mistral', 'openrouter', 'fireworks', 'cohere', 'voyage', 'jina'].map(
    (name) => ({
      name,
      apiKey: `${name.toUpperCase()}_API_KEY`,
      baseUrl: `${name.toUpperCase()}_BASE_URL`,
    }),
  ),
];

/** Every provider the environment gives a key (or, without keys, a URL) for. */
export function readProviderSettings(read: EnvReader): readonly ProviderSetting[] {
  const found: ProviderSetting[] = [];
  const federations = readFederations(read);
  for (const names of PROVIDER_ENV) {
    const identity = Object.hasOwn(federations, names.name) ? `identity:${names.name}` : undefined;
    const apiKey = names.apiKey === undefined ? undefined : (read.text(names.apiKey) ?? identity);
    const baseUrl = read.url(names.baseUrl);
    if (names.keyless === true ? baseUrl === undefined : apiKey === undefined) {
      if (baseUrl !== undefined) read.warnings.add(`${names.baseUrl} has no effect without ${names.apiKey}`);
      continue;
    }
    if (names.needsBaseUrl === true && baseUrl === undefined) {
      throw new ConfigError(names.baseUrl, '', `a URL is needed beside ${names.apiKey}`);
    }
    if (names.apiKey === undefined || apiKey === undefined) found.push({ name: names.name, baseUrl });
    else found.push({ name: names.name, ...readKeys(names.apiKey, apiKey), baseUrl });
  }
  const bedrock = readBedrock(read);
  if (bedrock !== undefined) found.push(bedrock);
  const vertex = readVertex(read);
  if (vertex !== undefined) found.push(vertex);
  return found;
}

/** One key, or several separated by commas. */
function readKeys(name: string, text: string): Pick<ProviderSetting, 'apiKey' | 'furtherKeys'> {
  const [apiKey, ...furtherKeys] = text
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== '');
  if (apiKey === undefined || /[^\x21-\x7e]/.test([apiKey, ...furtherKeys].join(''))) {
    throw new ConfigError(name, '***', 'visible ASCII characters without spaces are needed');
  }
  return furtherKeys.length === 0 ? { apiKey } : { apiKey, furtherKeys };
}

/** A project configures it; without a key, the identity of the machine or pod. */
function readVertex(read: EnvReader): ProviderSetting | undefined {
  const project = read.text('VERTEX_PROJECT');
  const location = read.text('VERTEX_LOCATION') ?? 'global';
  const baseUrl = read.url('VERTEX_BASE_URL');
  const key = read.text('VERTEX_API_KEY');
  if (project === undefined) {
    for (const name of ['VERTEX_LOCATION', 'VERTEX_BASE_URL', 'VERTEX_API_KEY']) {
      if (read.text(name) !== undefined) read.warnings.add(`${name} has no effect without VERTEX_PROJECT`);
    }
    return undefined;
  }
  if (!/^[a-z0-9-]+$/.test(location)) {
    throw new ConfigError('VERTEX_LOCATION', location, 'a location such as global or europe-west1 is needed');
  }
  const keys = key === undefined ? { apiKey: 'identity:gcp' } : readKeys('VERTEX_API_KEY', key);
  return { name: 'vertex', ...keys, baseUrl, options: { project, location } };
}

const REGION = /^[a-z]{2}(?:-[a-z]+)+-\d$/;

/** AWS credentials exist for many purposes. Only a region, a base URL or a dedicated key configures this vendor. */
function readBedrock(read: EnvReader): ProviderSetting | undefined {
  const baseUrl = read.url('BEDROCK_BASE_URL');
  const ownRegion = read.text('BEDROCK_REGION');
  const bearer = read.text('AWS_BEARER_TOKEN_BEDROCK');
  if (baseUrl === undefined && ownRegion === undefined && bearer === undefined) return undefined;
  const region = ownRegion ?? read.text('AWS_REGION') ?? read.text('AWS_DEFAULT_REGION') ?? 'us-east-1';
  if (!REGION.test(region)) throw new ConfigError('BEDROCK_REGION', region, 'a region such as eu-central-1 is needed');
  const apiKey = bearer === undefined ? readAwsKey(read) : readKeys('AWS_BEARER_TOKEN_BEDROCK', bearer).apiKey;
  return { name: 'bedrock', apiKey, baseUrl, options: { region } };
}

/** `<access key id>:<secret>[:<session token>]`; without keys, the role that the machine or pod has. */
function readAwsKey(read: EnvReader): string {
  const accessKeyId = read.text('AWS_ACCESS_KEY_ID');
  const secretAccessKey = read.text('AWS_SECRET_ACCESS_KEY');
  if (accessKeyId === undefined && secretAccessKey === undefined) return 'identity:aws';
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    const name = accessKeyId === undefined ? 'AWS_ACCESS_KEY_ID' : 'AWS_SECRET_ACCESS_KEY';
    throw new ConfigError(name, '', 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are needed for Bedrock');
  }
  const token = read.text('AWS_SESSION_TOKEN');
  const key = [accessKeyId, secretAccessKey, ...(token === undefined ? [] : [token])].join(':');
  if (/[^\x21-\x7e]/.test(key)) {
    throw new ConfigError('AWS_SECRET_ACCESS_KEY', '***', 'visible ASCII characters without spaces are needed');
  }
  return key;
}
