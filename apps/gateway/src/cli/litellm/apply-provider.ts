import type { JsonObject } from '@llm0/core/chat/json';
import { dataOf, isObject } from '../read-list';
import { type Applying, type Outcome, tell } from './apply-step';
import type { PlannedKey } from './import-plan';
import { keepFirst } from './list-named';
import { endsAlike, type PlacedProvider } from './place-plan';

/** Sets up the vendor or server, then its keys. False where the former failed: keys and aliases have no place then. */
export async function applyProvider(placed: PlacedProvider, applying: Applying): Promise<boolean> {
  const { steps } = applying;
  const { name, existing, refusal } = placed;
  if (refusal !== undefined) {
    steps.push({ what: 'provider', name, outcome: 'failed', detail: refusal });
    return false;
  }
  const isSetUp = await setUp(placed, applying);
  if (isSetUp) {
    const own = dataOf(existing ?? {}, 'keys').filter(isObject);
    const keys = own.filter((key) => key.project_id === applying.scope && String(key.name).startsWith(OF_IMPORTS));
    const matched = placed.keys.map((key) => findKey(key, keys));
    for (const [index, key] of placed.keys.entries()) await applyKey(name, key, matched[index], applying);
    for (const key of keys) {
      if (matched.includes(key)) continue;
      const detail = `${key.name} is not in the file and stays: llm0 providers remove-key ${name} ${key.id}`;
      steps.push({ what: 'vendor key', name, outcome: 'unchanged', detail });
    }
  }
  for (const variable of placed.missing) {
    const own = existing?.is_configured === true ? '; the gateway has one of its own' : '';
    steps.push({
      what: 'vendor key',
      name,
      outcome: 'missing',
      detail: `${variable} is not set where this runs${own}`,
    });
  }
  return isSetUp;
}

/** Leaves an existing provider unchanged; see `placePlan`. */
async function setUp(placed: PlacedProvider, { api, steps }: Applying): Promise<boolean> {
  const { name, isVendor, baseUrl, headers, options, existing } = placed;
  const settings = {
    ...(baseUrl === undefined ? {} : { base_url: baseUrl }),
    ...(hasFields(options) ? { options } : {}),
    ...(hasFields(headers) && !isVendor ? { headers: { ...headers } } : {}),
  };
  const isReady =
    existing !== undefined && (!isVendor || existing.is_stored === true || existing.is_configured === true);
  if (isReady || (isVendor && !hasFields(settings))) {
    const stays = existing === undefined ? '' : describeOptions(options, existing);
    const detail = [baseUrl ?? '', stays].filter((text) => text !== '').join('; ');
    if (placed.keys.length === 0 || stays !== '') steps.push({ what: 'provider', name, outcome: 'unchanged', detail });
    return true;
  }
  const outcome = await tell(steps, { what: 'provider', name }, async (isAgain) => {
    if (isAgain) return whatIsThere(placed, api);
    await api.post('/providers', { name, ...settings });
    return ['created', baseUrl ?? ''];
  });
  return outcome !== 'failed';
}

/** Another import made one of that name meanwhile: of this very server, or of another one. */
async function whatIsThere(
  { name, baseUrl = '' }: PlacedProvider,
  api: Applying['api'],
): Promise<readonly [Outcome, string]> {
  const { body } = await api.get(`/providers/${name}`);
  const isSame = baseUrl === '' || body.base_url === baseUrl;
  return isSame ? ['unchanged', baseUrl] : ['failed', `another import put it at ${body.base_url}: run this one again`];
}

/** Shared by all projects. */
function describeOptions(options: Readonly<Record<string, string>>, existing: JsonObject): string {
  const there = isObject(existing.options) ? existing.options : {};
  // Regions become prefixes of model names instead.
  const other = Object.entries(options).filter(([name, value]) => name !== 'region' && there[name] !== value);
  const told = other.map(([name, value]) => `${name} ${there[name] ?? 'of the gateway'} stays, the file has ${value}`);
  return told.join(', ');
}

const OF_IMPORTS = 'litellm ';
/** Names that several servers share have a hash suffix. */
const plainName = (name: unknown): string => String(name).replace(/ #[0-9a-f]{6}$/, '');

/** The same key by its last characters (the API never shows more), else the one that it replaces. */
function findKey({ name, secret }: PlannedKey, keys: readonly JsonObject[]): JsonObject | undefined {
  const isSame = (key: JsonObject) => endsAlike(key, secret) && plainName(key.name) === plainName(name);
  return keys.find(isSame) ?? keys.find((key) => key.name === name);
}

const hasFields = (fields: object): boolean => Object.keys(fields).length > 0;

async function applyKey(
  provider: string,
  { name, secret }: PlannedKey,
  existing: JsonObject | undefined,
  { api, steps, scope, isDryRun }: Applying,
): Promise<void> {
  await tell(steps, { what: 'vendor key', name: provider }, async () => {
    if (existing === undefined) {
      const path = `/providers/${provider}/keys`;
      const { body } = await api.post(path, { key: secret, name, project_id: scope ?? null });
      if (isDryRun) return ['created', name];
      const isAlike = (one: JsonObject) => one.name === name && one.project_id === scope;
      const idOf = ({ id }: JsonObject) => `${provider}/${id}`;
      const { id } = await keepFirst(api, { path, made: body, isAlike, idOf });
      return id === body.id ? ['created', name] : ['unchanged', name];
    }
    const end = String(existing.last_characters ?? '');
    if (end === '' || endsAlike(existing, secret)) return ['unchanged', String(existing.name)];
    await api.patch(`/providers/${provider}/keys/${existing.id}`, { key: secret });
    return ['updated', name];
  });
}
