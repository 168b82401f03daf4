import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Claims of whoever signs in next. */
export interface FakePerson {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
  readonly groups?: readonly string[];
}

export interface FakeIssuer {
  readonly issuer: string;
  /** Who is signed in at the issuer; null refuses. */
  person: FakePerson | null;
  /** Follows the redirects of the issuer as a browser, up to the address that leads back. */
  follow(address: string): Promise<string>;
  close(): Promise<void>;
}

export const CLIENT = { clientId: 'gateway', clientSecret: 'a-secret-of-the-client' } as const;

interface Options {
  /** Addresses that may get a code. */
  readonly redirectUris: readonly string[];
  /** Claims are in userinfo only. */
  readonly inUserinfo?: boolean;
}

/** An issuer of OpenID Connect on a free port, whose pages ask nothing. */
export async function startFakeIssuer({ redirectUris, inUserinfo = false }: Options): Promise<FakeIssuer> {
  const { default: Provider } = await import('oidc-provider');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const state: { person: FakePerson | null } = { person: null };
  const people = new Map<string, FakePerson>();
  const provider = new Provider(issuer, {
    clients: [
      {
        ...{ client_id: CLIENT.clientId, client_secret: CLIENT.clientSecret, redirect_uris: [...redirectUris] },
        post_logout_redirect_uris: redirectUris.map((uri) => `${new URL(uri).origin}/`),
      },
    ],
    claims: { email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    conformIdTokenClaims: inUserinfo,
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    cookies: { keys: ['test'] },
    findAccount: (_, id) => ({ accountId: id, claims: async () => ({ ...people.get(id), sub: id }) }),
  });
  const handle = provider.callback();
  const interact = async (request: IncomingMessage, response: ServerResponse) => {
    const { person } = state;
    if (person === null) {
      return provider.interactionFinished(request, response, { error: 'access_denied' });
    }
    people.set(person.sub, person);
    const grant = new provider.Grant({ accountId: person.sub, clientId: CLIENT.clientId });
    grant.addOIDCScope('openid profile email groups');
    const consent = { grantId: await grant.save() };
    return provider.interactionFinished(request, response, { login: { accountId: person.sub }, consent });
  };
  server.on('request', (request, response) => {
    void (request.url?.startsWith('/interaction/') ? interact(request, response) : handle(request, response));
  });
  return {
    issuer,
    get person() {
      return state.person;
    },
    set person(person) {
      state.person = person;
    },
    follow: (address) => follow(issuer, address),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const MOST_STEPS = 10;

/** A new browser each time: the issuer remembers nobody. */
async function follow(issuer: string, address: string): Promise<string> {
  const cookies = new Map<string, string>();
  let at = address;
  for (let step = 0; step < MOST_STEPS && at.startsWith(issuer); step++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(at, { redirect: 'manual', headers: { cookie } });
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    const next = answer.headers.get('location');
    if (next === null)
      throw new Error(`the issuer shows a page: ${answer.status} ${(await answer.text()).slice(0, 500)}`);
    at = new URL(next, at).href;
  }
  return at;
}
