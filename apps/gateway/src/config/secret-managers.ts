import { readFederations } from './federations';
import type { EnvReader } from './values';

const SERVICE_ACCOUNT_TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/** How often secrets of references are read again, and Vault's own variables: other programs may use them too. */
export function readSecretManagers(read: EnvReader) {
  const refreshMs = read.durationMs('SECRET_REFRESH', '5m');
  const address = read.text('VAULT_ADDR');
  const vault = {
    ...{ token: read.text('VAULT_TOKEN'), tokenFile: read.text('VAULT_TOKEN_FILE'), role: read.text('VAULT_ROLE') },
    namespace: read.text('VAULT_NAMESPACE'),
    authPath: read.text('VAULT_AUTH_PATH') ?? 'kubernetes',
    identityFile: SERVICE_ACCOUNT_TOKEN,
  };
  return {
    refreshMs,
    federations: readFederations(read),
    vault: address === undefined ? undefined : { address, ...vault },
  };
}
