import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createHmac, createSign, generateKeyPairSync } from 'node:crypto';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { Hono } from 'hono';
import { Issuers } from '../../sign-on/issuers';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';
import { createSignOn } from './routes';

// What a token must be is decided in code, not in the store.
const kind = TEST_DATABASES.at(-1) as (typeof TEST_DATABASES)[number];
const ORIGIN = 'http://gateway.test';
const own = generateKeyPairSync('rsa', { modulusLength: 2048 });
const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 });
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

interface Forged {
  readonly alg: string;
  readonly claims: (right: Record<string, unknown>) => Record<string, unknown>;
  readonly sign: (text: string) => string;
}

const rsa = (key: typeof own.privateKey) => (text: string) =>
  createSign('RSA-SHA256').update(text).sign(key, 'base64url');
const right: Forged = { alg: 'RS256', claims: (claims) => claims, sign: rsa(own.privateKey) };
const nowS = () => Math.floor(Date.now() / 1000);

const FORGED: Readonly<Record<string, Forged>> = {
  'alg none': { ...right, alg: 'none', sign: () => '' },
  'no signature': { ...right, sign: () => '' },
  'the signature of another key': { ...right, sign: rsa(foreign.privateKey) },
  'HS256 with the public key as its secret': {
    ...{ ...right, alg: 'HS256' },
    sign: (text) =>
      createHmac('sha256', own.publicKey.export({ type: 'spki', format: 'pem' }))
        .update(text)
        .digest('base64url'),
  },
  'HS256 with the secret of the client': {
    ...{ ...right, alg: 'HS256' },
    sign: (text) => createHmac('sha256', 'client-secret').update(text).digest('base64url'),
  },
  'another audience': { ...right, claims: (claims) => ({ ...claims, aud: 'another' }) },
  'another issuer': { ...right, claims: (claims) => ({ ...claims, iss: 'https://evil.test' }) },
  'the nonce of another sign-in': { ...right, claims: (claims) => ({ ...claims, nonce: 'another' }) },
  'no nonce': { ...right, claims: ({ nonce: _, ...claims }) => claims },
  'no subject': { ...right, claims: ({ sub: _, ...claims }) => claims },
  'an end six minutes ago': { ...right, claims: (claims) => ({ ...claims, exp: nowS() - 360 }) },
};

let admin: AdminUnderTest;
let app: Hono;
let issuer: ReturnType<typeof Bun.serve>;
let providerId: string;
let forged: Forged;
let nonce = '';
/** Status of the path instead of an answer. */
let broken: { readonly path: string; readonly status: number } | undefined;
let published = own.publicKey;
let kid = '1';
let laterMs = 0;

beforeAll(async () => {
  admin = await openAdmin(kind);
  issuer = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1' },
    fetch: (request) => {
      const { origin, pathname } = new URL(request.url);
      if (pathname === broken?.path) return new Response('away', { status: broken.status });
      if (pathname === '/jwks')
        return Response.json({ keys: [{ ...published.export({ format: 'jwk' }), kid, use: 'sig' }] });
      if (pathname === '/token')
        return Response.json({ access_token: 'a', token_type: 'bearer', id_token: tokenOf(origin) });
      return Response.json({
        ...{ issuer: origin, authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token` },
        ...{ jwks_uri: `${origin}/jwks`, authorization_response_iss_parameter_supported: true },
      });
    },
  });
  const clock = { monotonicMs: () => admin.services.clock.monotonicMs() + laterMs };
  app = new Hono().route(
    '/auth',
    createSignOn({ ...admin.services, issuers: new Issuers({ ...admin.services, clock }) }),
  );
  const body = {
    name: `hostile ${crypto.randomUUID()}`,
    issuer: issuer.url.origin,
    client_id: 'me',
    client_secret: 'client-secret',
  };
  providerId = (await admin.call('POST', '/identity-providers', { body })).body.id;
}, 60_000);
afterAll(async () => {
  await issuer.stop(true);
  await admin.close();
});

function tokenOf(iss: string): string {
  const { alg, claims, sign } = forged;
  const said = claims({ iss, aud: 'me', sub: 'eve', nonce, iat: nowS(), exp: nowS() + 60 });
  const text = `${base64({ alg, kid })}.${base64(said)}`;
  return `${text}.${sign(text)}`;
}

/** Where the browser ends up, and whether it has a session. */
async function signIn(as: Forged, answer: (given: URLSearchParams) => void = () => {}) {
  forged = as;
  const begun = await app.request(`${ORIGIN}/auth/login?provider=${providerId}`);
  const asked = new URL(begun.headers.get('location') ?? '').searchParams;
  nonce = asked.get('nonce') ?? '';
  const given = new URLSearchParams({ code: 'c', state: asked.get('state') ?? '', iss: issuer.url.origin });
  answer(given);
  const cookie = begun.headers
    .getSetCookie()
    .map((set) => set.split(';')[0])
    .join('; ');
  const back = await app.request(`${ORIGIN}/auth/callback?${given}`, { headers: { cookie } });
  const hasSession = back.headers.getSetCookie().some((set) => set.startsWith('llm0_session='));
  return { hasSession, cookie, location: back.headers.get('location'), query: String(given) };
}

test('the right token opens a session; five minutes of clock skew are tolerated', async () => {
  expect(await signIn(right)).toMatchObject({ hasSession: true, location: '/' });
  expect(
    (await signIn({ ...right, claims: (claims) => ({ ...claims, exp: nowS() - 240, iat: nowS() + 240 }) })).hasSession,
  ).toBe(true);
});

test('an answer opens one session, even where the issuer takes its code twice', async () => {
  const begun = await signIn(right);
  const again = await app.request(`${ORIGIN}/auth/callback?${begun.query}`, { headers: { cookie: begun.cookie } });
  expect(again.headers.get('location')).toStartWith('/?sign_in=used');
});

test.each(Object.keys(FORGED))('%s: no session', async (name) => {
  const { hasSession, location } = await signIn(FORGED[name] ?? right);
  expect([hasSession, location]).toEqual([false, expect.stringMatching(/^\/\?sign_in=refused/)]);
});

test('an answer of another issuer, or of none, is refused (RFC 9207)', async () => {
  const { hasSession } = await signIn(right, (given) => given.set('iss', 'https://evil.test'));
  expect(hasSession).toBe(false);
  expect((await signIn(right, (given) => given.delete('iss'))).hasSession).toBe(false);
  expect((await signIn(right, (given) => given.append('state', 'second'))).hasSession).toBe(false);
});

const DISCOVERY = '/.well-known/openid-configuration';

test('an issuer that says it is away is called unreachable; one that is none, misconfigured', async () => {
  const begin = async () => {
    laterMs += 60_000;
    const answer = await app.request(`${ORIGIN}/auth/login?provider=${providerId}`);
    return answer.headers.get('location') ?? '';
  };
  expect(await begin()).toStartWith(issuer.url.origin);
  try {
    broken = { path: DISCOVERY, status: 503 };
    expect(await begin()).toStartWith('/?sign_in=unreachable&');
    broken = { path: DISCOVERY, status: 404 };
    expect(await begin()).toStartWith('/?sign_in=misconfigured&');
    laterMs += 60_000;
    for (const path of ['/token', '/jwks']) {
      broken = { path, status: 503 };
      expect((await signIn(right)).location).toStartWith('/?sign_in=unreachable&');
    }
  } finally {
    broken = undefined;
    laterMs += 60_000;
  }
  expect((await signIn(right)).hasSession).toBe(true);
  const refuse = (given: URLSearchParams) => {
    given.delete('code');
    given.set('error', 'temporarily_unavailable');
  };
  expect((await signIn(right, refuse)).location).toStartWith('/?sign_in=unreachable&');
});

test('a key that the issuer just changed is found at the next sign-in, and the old one no longer counts', async () => {
  expect((await signIn(right)).hasSession).toBe(true);
  [published, kid, laterMs] = [foreign.publicKey, '2', laterMs + 3000];
  try {
    expect((await signIn({ ...right, sign: rsa(foreign.privateKey) })).hasSession).toBe(true);
    expect((await signIn(right)).hasSession).toBe(false);
  } finally {
    [published, kid, laterMs] = [own.publicKey, '1', laterMs + 3000];
  }
});
