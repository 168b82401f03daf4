import { deleteAdminSession, findAdminSession } from '@llm0/drizzle/queries/access/admin-sessions';
import {
  identityProviderRows,
  listActiveIdentityProviders,
  type StoredIdentityProvider,
} from '@llm0/drizzle/queries/access/identity-providers';
import { type Context, Hono } from 'hono';
import { type Issuers, loadClient } from '../../sign-on/issuers';
import { originOf } from '../access/origin-of';
import { readSessionCookie, SESSION_SECONDS, writeSessionCookie } from '../access/session-cookie';
import type { AdminServices } from '../admin-services';
import { askIssuer, openSession, SignInRefused } from './finish-sign-in';
import { clearFlow, endOfFlow, readFlow, type SignInFlow, safePath, writeFlow } from './sign-in-cookie';

type Needs = Pick<AdminServices, 'db' | 'hotStore' | 'config' | 'providerAdmin' | 'issuers' | 'clock' | 'log'>;

/** Reasons of the sign-in page; the address has nothing but these words. */
type Reason =
  | 'unknown_provider'
  | 'unreachable'
  | 'misconfigured'
  | 'expired'
  | 'denied'
  | 'refused'
  | SignInRefused['reason'];

/** Pages of the sign-in for browsers, to be mounted at `/auth`. */
export function createSignOn(services: Needs): Hono {
  const { db, hotStore, config, providerAdmin, issuers, clock, log } = services;
  const back = (c: Context, reason: Reason, provider?: StoredIdentityProvider) => {
    c.header('Set-Cookie', clearFlow(), { append: true });
    return c.redirect(
      `/?${new URLSearchParams({ sign_in: reason, ...(provider && { provider: provider.name }) })}`,
      303,
    );
  };
  const app = new Hono();
  app.use(async (c, next) => {
    await next();
    c.header('Cache-Control', 'no-store');
    c.header('Referrer-Policy', 'no-referrer');
  });
  app.get('/providers', async (c) => {
    const found = await listActiveIdentityProviders(db);
    return c.json({ data: found.map(({ id, name }) => ({ id, name })), is_required: config.signOn.isRequired });
  });
  app.get('/login', (c) => signIn(services, c, back));
  app.get('/callback', async (c) => {
    const nowMs = clock.nowMs();
    const flow = readFlow(providerAdmin.vault, c.req.header('cookie'), nowMs);
    if (flow === undefined) return back(c, 'expired');
    const provider = await identityProviderRows.get(db, { id: flow.providerId });
    if (provider === null || !provider.isActive) return back(c, 'unknown_provider');
    try {
      const asked = { search: new URL(c.req.raw.url).search, groupsClaim: provider.groupsClaim };
      const configuration = await issuers.configurationOf(provider);
      const claims = await askIssuer(configuration, flow, asked);
      const supported = configuration.serverMetadata().claims_supported as readonly string[] | undefined;
      const secret = await openSession({ db, hotStore, provider, flow, nowMs, supported }, claims);
      for (const path of SESSION_PATHS) {
        c.header('Set-Cookie', writeSessionCookie(c.req.raw, secret, SESSION_SECONDS, path), { append: true });
      }
      c.header('Set-Cookie', clearFlow(), { append: true });
      return c.redirect(flow.returnTo, 303);
    } catch (err) {
      const reason = reasonOf(err);
      log.warn({ err, provider: provider.name, reason }, 'a sign-in failed');
      return back(c, reason, provider);
    }
  });
  app.get('/logout', (c) => signOut(services, issuers, c));
  return app;
}

type Back = (c: Context, reason: Reason, provider?: StoredIdentityProvider) => Response;

/** Leads to the issuer; with `again`, to the one of the session, which authenticates the person anew. */
async function signIn(services: Needs, c: Context, back: Back): Promise<Response> {
  const { db, config, providerAdmin, issuers, clock, log } = services;
  const isAgain = c.req.query('again') === 'true';
  const asked = (isAgain && (await providerOfSession(services, c))) || c.req.query('provider');
  const provider = pick(await listActiveIdentityProviders(db), asked);
  if (provider === undefined) return back(c, 'unknown_provider');
  try {
    const origin = config.signOn.publicUrl ?? originOf(c.req.raw);
    const begin = { origin, returnTo: c.req.query('return_to'), nowMs: clock.nowMs(), isAgain };
    const flow = await beginFlow(provider, begin);
    const url = await addressOf(await issuers.configurationOf(provider), provider, flow);
    c.header('Set-Cookie', writeFlow(providerAdmin.vault, flow));
    return c.redirect(url, 303);
  } catch (err) {
    log.warn({ err, provider: provider.name }, 'a sign-in could not begin');
    return back(c, isAway(err) ? 'unreachable' : 'misconfigured', provider);
  }
}

/** Where the person of this browser's session signed in. */
async function providerOfSession({ db }: Needs, c: Context): Promise<string | undefined> {
  const cookie = readSessionCookie(c.req.header('cookie'));
  const session = cookie === undefined ? null : await findAdminSession(db, cookie.hash);
  return session?.identityProviderId ?? undefined;
}

/** Ends the session here, and leads on to where the issuer ends its own. */
async function signOut({ db, config }: Needs, issuers: Issuers, c: Context): Promise<Response> {
  // Other sites cannot sign anybody out: the cookie does not come with their links.
  const cookie = readSessionCookie(c.req.header('cookie'));
  const providerId = cookie === undefined ? null : await deleteAdminSession(db, cookie.hash);
  for (const path of SESSION_PATHS) {
    c.header('Set-Cookie', writeSessionCookie(c.req.raw, '', 0, path), { append: true });
  }
  const provider = providerId === null ? null : await identityProviderRows.get(db, { id: providerId });
  const origin = config.signOn.publicUrl ?? originOf(c.req.raw);
  return c.redirect(provider === null ? '/' : await endAt(issuers, provider, origin), 303);
}

/** The admin API's, and that of signing out. */
const SESSION_PATHS = ['/admin', '/auth'] as const;

function pick(providers: readonly StoredIdentityProvider[], asked: string | undefined) {
  if (asked === undefined) return providers.length === 1 ? providers[0] : undefined;
  return providers.find(({ id, name }) => id === asked || name === asked);
}

interface Begin {
  readonly origin: string;
  readonly returnTo: string | undefined;
  readonly nowMs: number;
  readonly isAgain: boolean;
}

async function beginFlow(
  { id }: StoredIdentityProvider,
  { origin, returnTo, nowMs, isAgain }: Begin,
): Promise<SignInFlow> {
  const client = await loadClient();
  return {
    ...{ providerId: id, state: client.randomState(), nonce: client.randomNonce() },
    ...{ verifier: client.randomPKCECodeVerifier(), redirectUri: `${origin}/auth/callback` },
    ...{ returnTo: safePath(returnTo), isAgain, expiresAtMs: endOfFlow(nowMs) },
  };
}

type Configuration = Awaited<ReturnType<Issuers['configurationOf']>>;

/** Address of the issuer's sign-in page. */
async function addressOf(configuration: Configuration, { scopes }: StoredIdentityProvider, flow: SignInFlow) {
  const client = await loadClient();
  return client.buildAuthorizationUrl(configuration, {
    ...{ redirect_uri: flow.redirectUri, scope: scopes, state: flow.state, nonce: flow.nonce },
    ...{ code_challenge: await client.calculatePKCECodeChallenge(flow.verifier), code_challenge_method: 'S256' },
    ...(flow.isAgain && { prompt: 'login', max_age: '0' }),
  }).href;
}

/** Where the issuer ends its own session; the start page if it cannot. */
async function endAt(issuers: Issuers, provider: StoredIdentityProvider, origin: string): Promise<string> {
  try {
    const [client, configuration] = [await loadClient(), await issuers.configurationOf(provider)];
    if (configuration.serverMetadata().end_session_endpoint === undefined) return '/';
    const parameters = { client_id: provider.clientId, post_logout_redirect_uri: `${origin}/` };
    return client.buildEndSessionUrl(configuration, parameters).href;
  } catch {
    return '/';
  }
}

function reasonOf(error: unknown): Reason {
  if (error instanceof SignInRefused) return error.reason;
  const code = error instanceof Error && 'error' in error ? error.error : undefined;
  if (code === 'access_denied') return 'denied';
  return isAway(error) || (typeof code === 'string' && AWAY.has(code)) ? 'unreachable' : 'refused';
}

/** Errors of RFC 6749 by which an issuer says that it can't answer now. */
const AWAY = new Set(['server_error', 'temporarily_unavailable']);

/** The issuer did not answer, or says that it can't. */
function isAway(error: unknown): boolean {
  for (let at = error; at instanceof Error || at instanceof Response; at = at instanceof Error ? at.cause : undefined) {
    if ('status' in at && (Number(at.status) >= 500 || at.status === 429)) return true;
    if (at instanceof Response) return false;
    if (
      /timeout|ECONN|ENOTFOUND|ConnectionRefused|FailedToOpenSocket/i.test(`${at.name} ${'code' in at ? at.code : ''}`)
    )
      return true;
  }
  return false;
}
