import type { z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { SecretVault } from '@llm0/core/keys/secret-vault';
import type { StoredMcpServer } from '@llm0/drizzle/queries/mcp/servers';
import { openSecrets, type ServerSecrets } from '../../mcp/servers/server-table';
import type { newServerSchema } from './schema';

type Body = z.infer<typeof newServerSchema>;
type Given = Pick<Body, 'headers' | 'env' | 'auth'>;
type Sealed = Pick<
  StoredMcpServer,
  'encryptedSecrets' | 'encryptionKeyId' | 'headerNames' | 'envNames' | 'authType' | 'authOptions'
>;

/** Seals the secrets of the body with the remaining ones of `before`; empty if the body has none. */
export function sealServer(vault: SecretVault, given: Given, rowId: string, before?: StoredMcpServer): Partial<Sealed> {
  const { headers, env, auth } = given;
  if (headers === undefined && env === undefined && auth === undefined) return {};
  const isWhole = headers !== undefined && env !== undefined && auth !== undefined;
  const known = before === undefined || isWhole ? {} : openOrRefuse(vault, before);
  const secrets: ServerSecrets = {
    headers: headers === undefined ? known.headers : (headers ?? {}),
    env: env === undefined ? known.env : (env ?? {}),
    auth: auth === undefined ? known.auth : secretOf(auth),
  };
  return {
    ...seal(vault, secrets, rowId),
    headerNames: Object.keys(secrets.headers ?? {}),
    envNames: Object.keys(secrets.env ?? {}),
    ...(auth === undefined ? {} : { authType: auth.type, authOptions: optionsOf(auth) }),
  };
}

function seal(vault: SecretVault, { headers = {}, env = {}, auth }: ServerSecrets, rowId: string) {
  if (auth === undefined && Object.keys(headers).length + Object.keys(env).length === 0) {
    return { encryptedSecrets: null, encryptionKeyId: null };
  }
  const { bytes: encryptedSecrets, keyId: encryptionKeyId } = vault.seal(JSON.stringify({ headers, env, auth }), rowId);
  return { encryptedSecrets, encryptionKeyId };
}

function openOrRefuse(vault: SecretVault, before: StoredMcpServer): ServerSecrets {
  try {
    return openSecrets(vault, before);
  } catch (cause) {
    const message =
      'Its secrets were sealed with another ENCRYPTION_KEY. Send headers, env and auth together to replace them all.';
    throw new GatewayError('conflict', message, { cause });
  }
}

type Auth = NonNullable<Body['auth']>;

function secretOf(auth: Auth): string | undefined {
  switch (auth.type) {
    case 'bearer':
      return auth.token;
    case 'header':
      return auth.value;
    case 'none':
      return undefined;
    default:
      return auth.client_secret ?? undefined;
  }
}

/** Visible part. */
function optionsOf(auth: Auth): Readonly<Record<string, string>> {
  if (auth.type === 'header') return { name: auth.name };
  if (auth.type !== 'oauth_client' && auth.type !== 'oauth_user') return {};
  const { client_id: clientId, scope } = auth;
  return { ...(clientId ? { client_id: clientId } : {}), ...(scope ? { scope } : {}) };
}
