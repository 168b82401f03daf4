import type { SecretVault } from '@llm0/core/keys/secret-vault';
import type { HotStore } from '@llm0/core/limits/hot-store';
import type { Database } from '@llm0/drizzle/client';
import { checkOperatorUrl } from '@llm0/providers/transport/egress/check-operator-url';
import { readEgressAllow } from '@llm0/providers/transport/egress/egress-allow';
import type { Config } from '../config/config';
import { AccessTokens } from './access-tokens';
import { Issuers } from './issuers';
import { placeToken } from './place-token';

interface Parts {
  readonly config: Config;
  readonly vault: SecretVault;
  readonly fetch: typeof globalThis.fetch;
  readonly database: Pick<Database, 'db'>;
  readonly hotStore: Pick<HotStore, 'setVersions'>;
  readonly clock: { nowMs(): number };
}

export function createSignOnParts({ config, vault, fetch, database: { db }, hotStore, clock }: Parts) {
  const egress = readEgressAllow(config.egressAllow);
  const issuers = new Issuers({
    ...{ config, providerAdmin: { vault }, fetch, clock: { monotonicMs: () => performance.now() } },
    checkUrl: (url) => checkOperatorUrl(url, egress),
  });
  const nowMs = () => clock.nowMs();
  const place = (token: Parameters<typeof placeToken>[1]) => placeToken({ db, hotStore, nowMs }, token);
  return { issuers, accessTokens: new AccessTokens({ issuers, place, nowMs }) };
}
