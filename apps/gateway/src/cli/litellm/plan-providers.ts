import { type AddNote, asText, type PlannedKey, type PlannedProvider } from './import-plan';
import { fullNameOf, identityOf, type ServerIdentity, shortNameOf } from './name-servers';
import { type Deployment, readHeaders } from './read-deployments';
import type { ResolveValue } from './resolve-values';
import { isOpenAi, keyVariableOf } from './vendors';

const NAME_CHARACTERS = 180;

/** Provider of a deployment. */
export interface PlacedDeployment extends Deployment {
  readonly provider: string;
  readonly model: string;
  /** Its models have names of the vendor's own, and so may have a price here. */
  readonly isVendor: boolean;
}

interface Site {
  /** A vendor's; servers are named once all of them are known. */
  readonly vendor?: string;
  readonly baseUrl?: string;
  readonly headers: Readonly<Record<string, string>>;
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
  const found: { readonly deployment: Deployment; readonly site: Site; readonly model: string }[] = [];
  for (const deployment of deployments) {
    const headers = readHeaders(deployment, resolve, note);
    const site = findSite(deployment, headers, { sites, note });
    if (site === undefined) continue;
    addKey(site, deployment, { resolve, note });
    noteOwn(site, deployment, { headers, note });
    found.push({ deployment, site, model: modelAt(site, deployment, resolve) });
  }
  const names = nameSites([...sites.values()]);
  const nameOf = (site: Site) => names.get(site) ?? '';
  const providers = [...sites.values()].map((site) => planned(nameOf(site), site));
  noteSharedKeys(providers, note);
  const placed = found.map(({ deployment, site, model }) => {
    const isVendor = site.vendor !== undefined && site.vendor !== 'azure';
    return { ...deployment, provider: nameOf(site), model, isVendor };
  });
  return { providers, placed };
}

/** The first address of a vendor is the vendor's; further ones are servers, where they speak OpenAI's format. */
function findSite(deployment: Deployment, headers: Headers, { sites, note }: Finding): Site | undefined {
  const { named, at } = deployment;
  const baseUrl = cleanUrl(deployment.baseUrl ?? ('baseUrl' in named.vendor ? named.vendor.baseUrl : undefined));
  if (baseUrl === null) {
    note('left out', at, "its address isn't an http(s) URL, or has credentials or a query");
    return undefined;
  }
  if ('known' in named.vendor) {
    const vendor = named.vendor.known;
    const taken = sites.get(vendor);
    const isServer = vendor === 'openai' && baseUrl !== undefined && !isOpenAi(baseUrl);
    const own = baseUrl?.replace(/\/v1\/messages$/, '');
    if (!isServer && (taken === undefined || taken.baseUrl === own)) {
      return taken ?? addSite(sites, vendor, { vendor, baseUrl: own, headers: {} });
    }
    const further = serverOf(vendor, baseUrl);
    if (further !== undefined) return serverAt({ baseUrl: further, headers }, sites);
    note('left out', at, `${vendor} is at another address already, and has one here`);
    return undefined;
  }
  if (baseUrl === undefined) {
    note('left out', at, 'its address (api_base) is missing');
    return undefined;
  }
  return serverAt({ baseUrl, headers }, sites);
}

type Headers = Readonly<Record<string, string>>;

interface Finding {
  readonly sites: Map<string, Site>;
  readonly note: AddNote;
}

/** Address of the vendor's OpenAI-compatible API, for another resource or machine. */
const FURTHER_ADDRESS: Readonly<Record<string, (baseUrl: string) => string>> = {
  openai: (baseUrl) => baseUrl,
  azure: (baseUrl) => `${baseUrl.replace(/\/openai(?:\/v1)?$/, '')}/openai/v1`,
  ollama: (baseUrl) => `${baseUrl.replace(/\/v1$/, '')}/v1`,
};

const serverOf = (vendor: string | undefined, baseUrl: string | undefined): string | undefined =>
  vendor === undefined || baseUrl === undefined || !Object.hasOwn(FURTHER_ADDRESS, vendor)
    ? undefined
    : FURTHER_ADDRESS[vendor]?.(baseUrl);

const serverAt = (server: ServerIdentity, sites: Map<string, Site>): Site =>
  sites.get(identityOf(server)) ?? addSite(sites, identityOf(server), server);

function addSite(sites: Map<string, Site>, id: string, at: Pick<Site, 'vendor' | 'baseUrl' | 'headers'>): Site {
  const site = { ...at, options: {}, keys: [], missing: new Set<string>() };
  sites.set(id, site);
  return site;
}

/** Short names if they are unique, full ones otherwise; independent of order. */
function nameSites(sites: readonly Site[]): ReadonlyMap<Site, string> {
  const short = new Map(sites.map((site) => [site, shortNameAt(site)] as const));
  const counts = new Map<string, number>();
  for (const name of short.values()) if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  return new Map(
    sites.map((site) => {
      const name = short.get(site);
      const isAlone = name !== undefined && counts.get(name) === 1;
      return [site, isAlone ? name : fullNameOf({ baseUrl: site.baseUrl ?? '', headers: site.headers })];
    }),
  );
}

const shortNameAt = ({ vendor, baseUrl = '', headers }: Site): string | undefined =>
  vendor ?? (Object.keys(headers).length === 0 ? shortNameOf(baseUrl) : undefined);

function planned(name: string, { vendor, baseUrl, headers, options, keys, missing }: Site): PlannedProvider {
  const asServer = serverOf(vendor, baseUrl);
  return {
    ...{ name, isVendor: vendor !== undefined, baseUrl, headers, options, missing: [...missing] },
    ...(asServer === undefined ? {} : { asServer }),
    keys: keys.map((key) => (keys.some((one) => one !== key && one.name === key.name) ? toldApart(key) : key)),
  };
}

/** Without a trailing slash; null for a URL that must not be stored or shown. */
function cleanUrl(text: string | undefined | null): string | undefined | null {
  if (text === undefined || text === null) return undefined;
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  if (`${url.username}${url.password}${url.search}${url.hash}` !== '') return null;
  return `${url.origin}${url.pathname}`.replace(/\/{1,20}$/, '');
}

/** Tells keys of the same name apart by their hash, not by their order. */
function toldApart({ name, secret }: PlannedKey): PlannedKey {
  const hash = new Bun.CryptoHasher('sha256').update(secret).digest('hex');
  return { name: `${name} #${hash.slice(0, 6)}`, secret };
}

interface Reading {
  readonly resolve: ResolveValue;
  readonly note: AddNote;
}

/** Placeholder keys for servers that accept any key. */
const PLACEHOLDER = /^(?:none|null|dummy|empty|fake|anything|na|n\/a)$/i;
/** The master key of LiteLLM's own examples: a key where a server is named by its address, which may be another proxy. */
const EXAMPLE_KEY = 'sk-1234';

/** Bedrock's is a pair. */
function addKey(site: Site, deployment: Deployment, { resolve, note }: Reading): void {
  const { params, named, group, at } = deployment;
  const given = params.aws_access_key_id === undefined ? params.api_key : params.aws_access_key_id;
  const variable = keyVariableOf(named);
  const key = resolve(given ?? (variable === undefined ? undefined : `os.environ/${variable}`));
  if (key.text === undefined) {
    if (key.variable !== undefined) site.missing.add(key.variable);
    return;
  }
  const secret = site.vendor === 'bedrock' ? pairOf(key.text, deployment, resolve) : key.text;
  if (secret === undefined) {
    site.missing.add('AWS_SECRET_ACCESS_KEY');
    return;
  }
  const takesNone = site.vendor === undefined || site.vendor === 'ollama';
  if (takesNone && (PLACEHOLDER.test(secret) || (secret === EXAMPLE_KEY && deployment.baseUrl === undefined))) {
    note('left out', `${at} api_key`, `"${secret}" stands for no key: the server is asked without one`);
    return;
  }
  if (site.keys.some((one) => one.secret === secret)) return;
  site.keys.push({ name: `litellm ${key.variable ?? group}`.slice(0, NAME_CHARACTERS), secret });
}

function pairOf(first: string, { params }: Deployment, resolve: ResolveValue): string | undefined {
  if (params.api_key !== undefined && params.aws_access_key_id === undefined) return first;
  const second = resolve(params.aws_secret_access_key ?? 'os.environ/AWS_SECRET_ACCESS_KEY').text;
  const token = resolve(params.aws_session_token).text;
  return second === undefined ? undefined : [first, second, ...(token === undefined ? [] : [token])].join(':');
}

/** Notes settings that a vendor can't have for a single deployment. */
function noteOwn(site: Site, { params, at }: Deployment, { headers, note }: { headers: Headers; note: AddNote }): void {
  if (site.vendor !== undefined && Object.keys(headers).length > 0)
    note('left out', `${at} extra_headers`, `they would apply to every request to ${site.vendor}`);
  const version = asText(params.api_version);
  if (version === undefined) return;
  if (site.vendor !== 'azure') {
    note('left out', `${at} api_version`, "OpenAI's format has no such version");
    return;
  }
  const known = site.options.apiVersion;
  if (known !== undefined && known !== version) note('differs', at, `api_version: ${known} holds for all of azure`);
  else site.options.apiVersion = version;
}

/** The name the provider here knows the model by. */
function modelAt(site: Site, { named, params }: Deployment, resolve: ResolveValue): string {
  const { model } = named;
  if (named.prefix === 'fireworks_ai' && !model.startsWith('accounts/')) return `accounts/fireworks/models/${model}`;
  if (site.vendor === 'azure') return model.replace(/^(?:o_series|gpt5_series|responses)\//, '');
  if (site.vendor === 'openai') return model.replace(/^responses\//, '');
  if (site.vendor !== 'bedrock') return model;
  const plain = model.replace(/^(?:converse|converse_like|invoke)\//, '');
  const region = resolve(params.aws_region_name).text;
  if (region === undefined) return plain;
  site.options.region ??= region;
  return site.options.region === region ? plain : `${region}/${plain}`;
}

function noteSharedKeys(providers: readonly PlannedProvider[], note: AddNote): void {
  for (const { name, keys } of providers) {
    if (keys.length < 2) continue;
    note('differs', name, `its ${keys.length} keys are used for all of its models: the next one on 429 and 401`);
  }
}
