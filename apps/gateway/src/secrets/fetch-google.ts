import type { GoogleAuth } from 'google-auth-library';
import { type FetchedSecret, type Merge, SecretMissing } from './secret-reference';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const SECRET = /^projects\/[^/]+(?:\/locations\/([^/]+))?\/secrets\/[^/]+(?:\/versions\/[^/]+)?$/;
const NOT_FOUND = 404;
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
export async function fetchGoogleSecret(name: string, access: GoogleAccess): Promise<string> {
  const version = name.includes('/versions/') ? name : `${name}/versions/latest`;
  const { payload } = await ask(name, access, { path: `${version}:access` });
  if (payload?.data === undefined) throw new SecretMissing(`${name} has no value`);
  return Buffer.from(payload.data, 'base64').toString('utf8');
}

/** Adds a version; creates the secret if there is none. */
export async function writeGoogleSecret(name: string, merge: Merge, access: GoogleAccess): Promise<void> {
  const present = await fetchGoogleSecret(name, access).catch((error: unknown) => {
    if (error instanceof SecretMissing) return null;
    throw error;
  });
  const data = Buffer.from(merge(present)).toString('base64');
  const add = () => ask(name, access, { path: `${name}:addVersion`, body: { payload: { data } } });
  if (present !== null) return void (await add());
  const [place = '', id = ''] = name.split('/secrets/');
  const path = `${place}/secrets?secretId=${encodeURIComponent(id)}`;
  const replication = name.includes('/locations/') ? {} : { replication: { automatic: {} } };
  // It may be there without a version.
  await add().catch(async (error: unknown) => {
    if (!(error instanceof SecretMissing)) throw error;
    await ask(name, access, { path, body: replication });
    await add();
  });
}

interface Answer {
  readonly payload?: { readonly data?: string };
  readonly error?: { readonly message?: string };
}

async function ask(name: string, { env, fetch, signal }: GoogleAccess, asked: { path: string; body?: object }) {
  const [whole, location] = SECRET.exec(name) ?? [];
  if (whole === undefined) throw new Error(`gcp-sm:${name} must be gcp-sm:projects/PROJECT/secrets/SECRET`);
  const host = location === undefined ? 'secretmanager' : `secretmanager.${location}.rep`;
  // The variable by which Google's own tools find a private endpoint.
  const base =
    env.CLOUDSDK_API_ENDPOINT_OVERRIDES_SECRETMANAGER?.replace(/\/+$/, '') ?? `https://${host}.googleapis.com`;
  const { text: token } = await fetchGoogleIdentity();
  const response = await fetch(`${base}/v1/${asked.path}`, {
    ...(asked.body === undefined ? {} : { method: 'POST', body: JSON.stringify(asked.body) }),
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    redirect: 'error',
    signal,
  });
  const answer = (await response.json().catch(() => ({}))) as Answer;
  if (response.ok) return answer;
  const message = `Secret Manager answered ${response.status}: ${answer.error?.message?.slice(0, 200) ?? ''}`;
  throw response.status === NOT_FOUND ? new SecretMissing(message) : new Error(message);
}

/** An access token of the application's own identity. */
export async function fetchGoogleIdentity(): Promise<FetchedSecret> {
  const client = await (await applicationDefault()).getClient();
  const { token } = await client.getAccessToken();
  if (typeof token !== 'string') throw new Error('Google gave no access token');
  return { text: token, expiresAtMs: client.credentials.expiry_date ?? undefined };
}
