import { type AddNote, asText, type PlannedKey, type PlannedProvider } from './import-plan';
import { type Deployment, readHeaders } from './read-deployments';
import type { ResolveValue } from './resolve-values';
import { isOpenAi, keyVariableOf, nameOfServer } from './vendors';

/** Who answers for a deployment here. */
export interface PlacedDeployment extends Deployment {
  readonly provider: string;
  readonly model: string;
  /** Its models have names of the vendor's own, and so may have a price here. */
  readonly isVendor: boolean;
}

interface Site {
  readonly name: string;
  readonly isVendor: boolean;
  readonly baseUrl?: string;
  readonly headers: Record<string, string>;
  readonly options: Record<string, string>;
  readonly keys: PlannedKey[];
  readonly missing: Set<string>;
}

/** Vendors and servers of the deployments, each with its keys, and which of them each deployment is at. */
export function planProviders(
  deployments: readonly Deployment[],
  resolve: ResolveValue,
  note: AddNote,
): { readonly providers: readonly PlannedProvider[]; readonly placed: readonly PlacedDeployment[] } {
  const sites = new Map<string, Site>();
  const placed: PlacedDeployment[] = [];
  for (const deployment of deployments) {
    const site = findSite(deployment, sites, note);
    if (site === undefined) continue;
    addKey(site, deployment, resolve);
    addHeaders(site, deployment, resolve, note);
    const model = modelAt(site, deployment, resolve);
    placed.push({ ...deployment, provider: site.name, model, isVendor: site.isVendor && site.name !== 'azure' });
  }
  noteSharedKeys([...sites.values()], note);
  return { providers: [...sites.values()].map((site) => ({ ...site, missing: [...site.missing] })), placed };
}

/** The first address of a vendor is the vendor's; further ones are servers, where they speak OpenAI's format. */
function findSite(deployment: Deployment, sites: Map<string, Site>, note: AddNote): Site | undefined {
  const { named, at } = deployment;
  const baseUrl = cleanUrl(deployment.baseUrl ?? ('baseUrl' in named.vendor ? named.vendor.baseUrl : undefined));
  if (baseUrl === null) {
    note('left out', at, 'its address is no http(s) URL, or holds credentials or a query');
    return undefined;
  }
  if ('known' in named.vendor) {
    const vendor = named.vendor.known;
    const taken = sites.get(vendor);
    const isServer = vendor === 'openai' && baseUrl !== undefined && !isOpenAi(baseUrl);
    const own = baseUrl?.replace(/\/v1\/messages$/, '');
    if (!isServer && (taken === undefined || taken.baseUrl === own)) {
      return taken ?? addSite(sites, { name: vendor, isVendor: true, baseUrl: own });
    }
    const further = baseUrl && (vendor === 'openai' ? baseUrl : FURTHER_ADDRESS[vendor]?.(baseUrl));
    if (further !== undefined && further !== '') return serverAt(further, sites);
    note('left out', at, `${vendor} is at another address already, and has one here`);
    return undefined;
  }
  if (baseUrl === undefined) {
    note('left out', at, 'its address (api_base) is missing');
    return undefined;
  }
  return serverAt(baseUrl, sites);
}

/** Where the vendor's API in OpenAI's format lies, for a second resource or machine. */
const FURTHER_ADDRESS: Readonly<Record<string, (baseUrl: string) => string>> = {
  azure: (baseUrl) => `${baseUrl.replace(/\/openai(?:\/v1)?$/, '')}/openai/v1`,
  ollama: (baseUrl) => `${baseUrl.replace(/\/v1$/, '')}/v1`,
};

function serverAt(baseUrl: string, sites: Map<string, Site>): Site {
  for (const site of sites.values()) if (!site.isVendor && site.baseUrl === baseUrl) return site;
  const plain = nameOfServer(baseUrl);
  let name = plain;
  for (let number = 2; sites.has(name); number++) name = `${plain.slice(0, 35)}-${number}`;
  return addSite(sites, { name, isVendor: false, baseUrl });
}

function addSite(sites: Map<string, Site>, at: Pick<Site, 'name' | 'isVendor' | 'baseUrl'>): Site {
  const site = { ...at, headers: {}, options: {}, keys: [], missing: new Set<string>() };
  sites.set(at.name, site);
  return site;
}

/** Without a trailing slash; null for what may not be stored or shown. */
function cleanUrl(text: string | undefined | null): string | undefined | null {
  if (text === undefined || text === null) return undefined;
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  if (`${url.username}${url.password}${url.search}${url.hash}` !== '') return null;
  return `${url.origin}${url.pathname}`.replace(/\/{1,20}$/, '');
}

/** Bedrock's is a pair; a server's `none` or `dummy` is no key. */
function addKey(site: Site, deployment: Deployment, resolve: ResolveValue): void {
  const { params, named, group } = deployment;
  const given = params.aws_access_key_id === undefined ? params.api_key : params.aws_access_key_id;
  const variable = keyVariableOf(named);
  const key = resolve(given ?? (variable === undefined ? undefined : `os.environ/${variable}`));
  if (key.text === undefined) {
    if (key.variable !== undefined) site.missing.add(key.variable);
    return;
  }
  const secret = site.name === 'bedrock' ? pairOf(key.text, deployment, resolve) : key.text;
  if (secret === undefined) {
    site.missing.add('AWS_SECRET_ACCESS_KEY');
    return;
  }
  if (!site.isVendor && /^(?:none|null|dummy|empty|fake|anything|sk-1234|na|n\/a)$/i.test(secret)) return;
  if (site.keys.some((one) => one.secret === secret)) return;
  site.keys.push({ name: `litellm ${key.variable ?? group}`.slice(0, 200), secret });
}

function pairOf(first: string, { params }: Deployment, resolve: ResolveValue): string | undefined {
  if (params.api_key !== undefined && params.aws_access_key_id === undefined) return first;
  const second = resolve(params.aws_secret_access_key ?? 'os.environ/AWS_SECRET_ACCESS_KEY').text;
  const token = resolve(params.aws_session_token).text;
  return second === undefined ? undefined : [first, second, ...(token === undefined ? [] : [token])].join(':');
}

function addHeaders(site: Site, { params, at }: Deployment, resolve: ResolveValue, note: AddNote): void {
  const headers = readHeaders(params.extra_headers ?? params.headers, resolve);
  if (Object.keys(headers).length > 0) {
    if (site.isVendor) note('left out', `${at} extra_headers`, `they would go with every request to ${site.name}`);
    else Object.assign(site.headers, headers);
  }
  const version = asText(params.api_version);
  if (site.name !== 'azure' || version === undefined) return;
  const known = site.options.apiVersion;
  if (known !== undefined && known !== version) note('differs', at, `api_version: ${known} holds for all of azure`);
  else site.options.apiVersion = version;
}

/** The name the provider here knows the model by. */
function modelAt(site: Site, { named, params }: Deployment, resolve: ResolveValue): string {
  const { model } = named;
  if (named.prefix === 'fireworks_ai' && !model.startsWith('accounts/')) return `accounts/fireworks/models/${model}`;
  if (site.name === 'azure') return model.replace(/^(?:o_series|gpt5_series|responses)\//, '');
  if (site.name === 'openai') return model.replace(/^responses\//, '');
  if (site.name !== 'bedrock') return model;
  const plain = model.replace(/^(?:converse|converse_like|invoke)\//, '');
  const region = resolve(params.aws_region_name).text;
  if (region === undefined) return plain;
  site.options.region ??= region;
  return site.options.region === region ? plain : `${region}/${plain}`;
}

function noteSharedKeys(sites: readonly Site[], note: AddNote): void {
  for (const { name, keys } of sites) {
    if (keys.length < 2) continue;
    note('differs', name, `its ${keys.length} keys are used for all of its models: the next one on 429 and 401`);
  }
}
