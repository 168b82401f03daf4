import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { RequestFailed } from '../admin-client';
import { dataOf, isObject } from '../read-list';
import { type Applying, changedFields, tell } from './apply-step';
import type { PlannedKey, PlannedProvider } from './import-plan';
import { keepOldest } from './list-named';

/** Sets up the vendor or server, then its keys. Without the former the keys have no place, and are not tried. */
export async function applyProvider(planned: PlannedProvider, applying: Applying): Promise<void> {
  const { steps } = applying;
  const { name } = planned;
  const existing = await readProvider(name, applying);
  const isSetUp = await setUp(planned, existing, applying);
  const keys = dataOf(existing ?? {}, 'keys').filter(isObject);
  if (isSetUp) for (const key of planned.keys) await applyKey(name, key, keys, applying);
  for (const variable of planned.missing) {
    const own = existing?.is_configured === true ? '; the gateway has one of its own' : '';
    steps.push({
      what: 'vendor key',
      name,
      outcome: 'missing',
      detail: `${variable} is not set where this runs${own}`,
    });
  }
}

async function readProvider(name: string, { api }: Applying): Promise<JsonObject | undefined> {
  try {
    return (await api.get(`/providers/${name}`)).body;
  } catch (error) {
    if (error instanceof RequestFailed && error.status === 404) return undefined;
    throw error;
  }
}

async function setUp(planned: PlannedProvider, existing: JsonObject | undefined, applying: Applying): Promise<boolean> {
  const { api, steps } = applying;
  const { name, isVendor, baseUrl, headers, options } = planned;
  const wanted = {
    ...(baseUrl === undefined ? {} : { base_url: baseUrl }),
    ...(hasFields(options) ? { options } : {}),
  };
  // Of headers only names are shown.
  const areNamed = Bun.deepEquals(Object.keys(headers).sort(), [...dataOf(existing ?? {}, 'header_names')].sort());
  const changes = {
    ...changedFields(wanted, existing ?? {}),
    ...(hasFields(headers) && !areNamed ? { headers: { ...headers } } : {}),
  };
  if (!hasFields(changes) && (isVendor || existing !== undefined)) {
    if (planned.keys.length === 0) steps.push({ what: 'provider', name, outcome: 'unchanged', detail: baseUrl ?? '' });
    return true;
  }
  const outcome = await tell(steps, { what: 'provider', name }, async (isAgain) => {
    const isStored = (isAgain ? await readProvider(name, applying) : existing)?.is_stored === true;
    if (isStored) await api.patch(`/providers/${name}`, changes);
    else await api.post('/providers', { name, ...changes });
    return [isStored ? 'updated' : 'created', describeChange(existing?.base_url, changes, baseUrl)];
  });
  return outcome !== 'failed';
}

/** Whoever uses the vendor is asked for at another address: both are told. */
function describeChange(before: JsonValue | undefined, changes: JsonObject, baseUrl: string | undefined): string {
  if (typeof before !== 'string' || changes.base_url === undefined) return baseUrl ?? '';
  return `for every project: ${before} → ${baseUrl}`;
}

const hasFields = (fields: object): boolean => Object.keys(fields).length > 0;
const SHOWN_CHARACTERS = 4;

/** A key is known by its name, and to be the same by its last characters: more of it is never shown. */
async function applyKey(
  provider: string,
  { name, secret }: PlannedKey,
  keys: readonly JsonObject[],
  { api, steps, scope, isDryRun }: Applying,
): Promise<void> {
  await tell(steps, { what: 'vendor key', name: provider }, async () => {
    const existing = keys.find((key) => key.name === name && key.project_id === scope);
    if (existing === undefined) {
      const path = `/providers/${provider}/keys`;
      const { body } = await api.post(path, { key: secret, name, project_id: scope ?? null });
      if (isDryRun) return ['created', name];
      const isAlike = (one: JsonObject) => one.name === name && one.project_id === scope;
      return (await keepOldest(api, path, body, isAlike)).id === body.id ? ['created', name] : ['unchanged', name];
    }
    const end = String(existing.last_characters ?? '');
    if (end === '' || secret.slice(-SHOWN_CHARACTERS) === end) return ['unchanged', name];
    await api.patch(`/providers/${provider}/keys/${existing.id}`, { key: secret });
    return ['updated', name];
  });
}
