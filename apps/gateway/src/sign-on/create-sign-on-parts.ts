import type { SecretVault } from '@llm0/core/keys/secret-vault';
import type { HotStore } from '@llm0/core/limits/hot-store';
import type { Database } from '@llm0/drizzle/client';
import { AccessTokens } from './access-tokens';
import { type IssuerNeeds, Issuers } from './issuers';
import { placeToken } from './place-token';

interface Parts extends Pick<IssuerNeeds, 'config' | 'checkUrl' | 'fetch'> {
  readonly vault: SecretVault;
  readonly database: Pick<Database, 'db'>;
  readonly hotStore: Pick<HotStore, 'setVersions'>;
  readonly clock: { nowMs(): number };
}

export function createSignOnParts({ database: { db }, hotStore, clock, ...parts }: Parts) {
  const { config, vault, fetch, checkUrl } = parts;
  const issuers = new Issuers({
    ...{ config, fetch, checkUrl, providerAdmin: { vault } },
    clock: { monotonicMs: () => performance.now() },
  });
  const nowMs = () => clock.nowMs();
  const place = (token: Parameters<typeof placeToken>[1]) => placeToken({ db, hotStore, nowMs }, token);
  return { issuers, accessTokens: new AccessTokens({ issuers, place, nowMs }) };
}
