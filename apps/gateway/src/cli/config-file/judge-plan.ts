// Refusals that depend on the gateway, found before the first write.
import type { JsonObject } from '@llm0/core/chat/json';
import { BUILT_IN } from '@llm0/core/embedding/built-in-embeddings';
import { missingPrice, usualMode } from '@llm0/core/pricing/price-book';
import { type AdminClient, RequestFailed } from '../admin-client';
import { dataOf, isObject } from '../read-list';
import { secretsOf } from './compare';
import { type ConfigProblem, InvalidConfig, type Path } from './config-problem';
import type { GatewayState } from './load-state';
import { isOwnToken, type Plan, type Step } from './make-plan';
import { problemAt } from './read-resources';
import { runBounded } from './run-bounded';

/** Throws `InvalidConfig` for what the gateway would refuse half-way. Changes nothing. */
export async function judgePlan(api: AdminClient, { steps }: Plan, state: GatewayState): Promise<void> {
  const problems: ConfigProblem[] = [];
  const providers = knownProviders(state, steps);
  for (const step of steps) {
    for (const [field, message] of problemsOf(step, providers)) {
      if (step.wanted !== undefined) problems.push(problemAt(step.wanted, message, field));
    }
  }
  await runBounded(steps, async (step) => {
    const problem = await addressProblem(api, step);
    if (problem !== undefined) problems.push(problem);
  });
  if (problems.length > 0) throw new InvalidConfig(problems);
}

function knownProviders({ all, vendors }: GatewayState, steps: readonly Step[]): ReadonlySet<string> {
  const stored = [...all, ...steps].flatMap(({ kind, name }) => (kind === 'provider' ? [name] : []));
  return new Set([BUILT_IN.provider, ...vendors, ...stored]);
}

function problemsOf(
  { kind, wanted, found }: Step,
  providers: ReadonlySet<string>,
): readonly (readonly [Path, string])[] {
  if (wanted === undefined) return [];
  const { body, at } = wanted;
  const after: JsonObject = { ...found?.shown, ...body };
  if (kind === 'provider_key' && !providers.has(at[0] ?? '')) return [[[], noProvider(at[0] ?? '')]];
  if (kind === 'project' && after.strict_caps === true && after.on_store_failure === 'open') {
    return [[['on_store_failure'], 'must not be "open" with strict_caps: the cap would not hold']];
  }
  if (kind === 'token' && found !== undefined && isOwnToken(found)) return ownTokenProblems(body);
  if (kind === 'model') {
    const given = Object.keys(body).filter((field) => (body[field] ?? null) !== null);
    const missing = missingPrice(String(after.mode ?? usualMode(given)), (field) => given.includes(field));
    return missing === undefined ? [] : [[[missing], 'is required']];
  }
  if (kind !== 'alias' && kind !== 'chain') return [];
  return dataOf(body, 'targets').flatMap((target, index) => {
    const provider = isObject(target) ? String(target.provider) : '';
    return providers.has(provider) ? [] : [[['targets', index, 'provider'], noProvider(provider)] as const];
  });
}

/** The rest of the apply needs it. */
function ownTokenProblems({ role, expires_at: end }: JsonObject): readonly (readonly [Path, string])[] {
  if (role === 'viewer' || role === 'scim') return [[['role'], 'must stay "admin": this apply uses the token']];
  const isPast = typeof end === 'string' && Date.parse(end) <= Date.now();
  return isPast ? [[['expires_at'], 'must not be past: this apply uses the token']] : [];
}

const noProvider = (name: string) => `there is no provider "${name}" here or in the file`;

/** Addresses that requests may not go to, and secrets that can't be stored. */
async function addressProblem(api: AdminClient, { kind, wanted, changes }: Step): Promise<ConfigProblem | undefined> {
  if (wanted === undefined || (kind !== 'provider' && kind !== 'provider_key')) return undefined;
  const { base_url } = changes.some(({ field }) => field === 'base_url') ? wanted.body : {};
  const stores_secret = Object.keys(secretsOf(kind, wanted.body)).length > 0;
  if (typeof base_url !== 'string' && !stores_secret) return undefined;
  const asked = { name: wanted.at[0] ?? '', stores_secret };
  try {
    await api.post('/providers/check', typeof base_url === 'string' ? { ...asked, base_url } : asked);
    return undefined;
  } catch (error) {
    if (!(error instanceof RequestFailed) || error.status === undefined) throw error;
    return problemAt(wanted, error.message, typeof base_url === 'string' ? ['base_url'] : []);
  }
}
