import { BUILT_IN } from '@llm0/core/embedding/built-in-embeddings';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Db } from '@llm0/drizzle/client';
import { listProviders } from '@llm0/drizzle/queries/routing/providers';
import type { AdminServices } from '../admin-services';

type Needs = Pick<AdminServices, 'providerAdmin'>;

/** Throws for a target with an unknown provider, which routing would skip silently. */
export async function refuseUnknownProviders(
  { providerAdmin }: Needs,
  tx: Db,
  targets: readonly { readonly provider: string }[] | undefined,
): Promise<void> {
  if (targets === undefined) return;
  const isBuiltIn = (name: string) => name === BUILT_IN.provider || providerAdmin.isVendor(name);
  if (targets.every(({ provider }) => isBuiltIn(provider))) return;
  const names = (await listProviders(tx)).map(({ name }) => name);
  const index = targets.findIndex(({ provider }) => !isBuiltIn(provider) && !names.includes(provider));
  const unknown = targets[index]?.provider;
  if (unknown === undefined) return;
  const known = [...names, ...providerAdmin.vendors().map(({ name }) => name)];
  const near = known.find((name) => name.startsWith(unknown.slice(0, 3)) || unknown.startsWith(name));
  const hint = near === undefined ? 'Add it first, or choose an existing one.' : `Did you mean "${near}"?`;
  const param = `targets.${index}.provider`;
  const message = `${param}: There is no provider "${unknown.slice(0, 100)}". ${hint}`;
  throw new GatewayError('invalid_request', message, { param });
}
