import type { GoogleAuth } from 'google-auth-library';
import type { FetchedSecret } from './secret-reference';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const SECRET = /^projects\/[^/]+(?:\/locations\/([^/]+))?\/secrets\/[^/]+(?:\/versions\/[^/]+)?$/;
let auth: Promise<GoogleAuth> | undefined;

/** Application default credentials: a service account's file, workload identity, or the metadata server. */
const applicationDefault = (): Promise<GoogleAuth> => {
  auth ??= import('google-auth-library').then((library) => new library.GoogleAuth({ scopes: [SCOPE] }));
  return auth;
};

export interface GoogleAccess {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal;
}

/** Source: https://docs.cloud.google.com/secret-manager/docs/reference/rest/v1/projects.secrets.versions/access */
export async function fetchGoogleSecret(name: string, { env, fetch, signal }: GoogleAccess): Promise<string> {
  const [whole, location] = SECRET.exec(name) ?? [];
  if (whole === undefined) throw new Error(`gcp-sm:${name} must be gcp-sm:projects/PROJECT/secrets/SECRET`);
  const host = location === undefined ? 'secretmanager' : `secretmanager.${location}.rep`;
  // The variable by which Google's own tools find a private endpoint.
  const base =
    env.CLOUDSDK_API_ENDPOINT_OVERRIDES_SECRETMANAGER?.replace(/\/+$/, '') ?? `https://${host}.googleapis.com`;
  const version = name.includes('/versions/') ? name : `${name}/versions/latest`;
  const { text: token } = await fetchGoogleIdentity();
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${base}/v1/${version}:access`, { headers, redirect: 'error', signal });
  const answer = (await response.json().catch(() => ({}))) as {
    readonly payload?: { readonly data?: string };
    readonly error?: { readonly message?: string };
  };
  const data = answer.payload?.data;
  if (response.ok && data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
  throw new Error(`Secret Manager answered ${response.status}: ${answer.error?.message?.slice(0, 200) ?? ''}`);
}

/** An access token of the application's own identity. */
export async function fetchGoogleIdentity(): Promise<FetchedSecret> {
  const client = await (await applicationDefault()).getClient();
  const { token } = await client.getAccessToken();
  if (typeof token !== 'string') throw new Error('Google gave no access token');
  return { text: token, expiresAtMs: client.credentials.expiry_date ?? undefined };
}
