import { Hono } from 'hono';
import type { AdminUnderTest } from '../admin.fixture';
import { createScim } from './create-scim';

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever JSON came back
type AnyJson = any;

export interface ScimAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: AnyJson;
}

export interface ScimOptions {
  readonly body?: unknown;
  readonly rawBody?: string;
  /** null sends none. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export const PATCH_OP = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';

/** SCIM beside an admin API, with a token of the role. */
export async function openScim(admin: AdminUnderTest) {
  const app = new Hono().route('/scim/v2', createScim(admin.services));
  const made = await admin.call('POST', '/tokens', { body: { name: `scim ${crypto.randomUUID()}`, role: 'scim' } });
  const { name, token } = made.body as { name: string; token: string };
  const call = async (method: string, path: string, options: ScimOptions = {}): Promise<ScimAnswer> => {
    const headers = new Headers({ 'content-type': 'application/scim+json', ...options.headers });
    if (options.token !== null) headers.set('authorization', `Bearer ${options.token ?? token}`);
    const body = options.rawBody ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const server = { requestIP: () => ({ address: '203.0.113.7' }) };
    const response = await app.request(`http://gateway.test/scim/v2${path}`, { method, headers, body }, server);
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
  };
  return {
    name,
    token,
    call,
    list: (type: string, query: Readonly<Record<string, string>>) =>
      call('GET', `/${type}?${new URLSearchParams(query)}`),
    patch: (path: string, ...operations: readonly object[]) =>
      call('PATCH', path, { body: { schemas: [PATCH_OP], Operations: operations } }),
    /** Throws unless it is made. */
    make: async (type: 'Users' | 'Groups', body: object): Promise<AnyJson> => {
      const answer = await call('POST', `/${type}`, { body });
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
      return answer.body;
    },
  };
}
