import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { putEnvironmentProvider } from '@llm0/drizzle/queries/access/identity-providers';
import { CLIENT, type FakeIssuer, startFakeIssuer } from '@llm0/testing/sign-on/fake-issuer';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { Hono } from 'hono';
import { Issuers } from '../../sign-on/issuers';
import { type AdminUnderTest, ENV_TOKEN, openAdmin } from '../admin.fixture';
import { createSignOn } from './routes';

const ORIGIN = 'http://gateway.test';
const CALLBACK = `${ORIGIN}/auth/callback`;

/** A browser with its cookies, by path. */
class Browser {
  private readonly cookies = new Map<string, string>();

  constructor(private readonly app: Hono) {}

  async get(path: string): Promise<Response> {
    const at = new URL(path, ORIGIN);
    const answer = await this.app.request(at.href, { headers: { cookie: this.cookiesAt(at.pathname), host: at.host } });
    for (const set of answer.headers.getSetCookie()) this.keep(set);
    return answer;
  }

  has(name: string): boolean {
    return [...this.cookies.keys()].some((key) => key.startsWith(`${name} `));
  }

  cookiesAt(path: string): string {
    const own = [...this.cookies].filter(([key]) => path.startsWith(key.split(' ')[1] ?? '/'));
    return own.map(([key, value]) => `${key.split(' ')[0]}=${value}`).join('; ');
  }

  keep(set: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
    const key = `${name} ${/Path=([^;]+)/.exec(set)?.[1] ?? '/'}`;
    if (/Max-Age=0(?:;|$)/.test(set)) this.cookies.delete(key);
    else this.cookies.set(key, value);
  }
}

describe.each(ON_ONE_DATABASE)('sign-in with OpenID Connect on $name', (kind) => {
  let admin: AdminUnderTest;
  let issuer: FakeIssuer;
  let second: FakeIssuer;
  let app: Hono;
  let browser: Browser;
  let teamId: string;
  let providerId: string;
  let secondId: string;
  const group = `engineers ${crypto.randomUUID()}`;
  const sub = () => `person-${crypto.randomUUID()}`;

  beforeAll(async () => {
    admin = await openAdmin(kind);
    issuer = await startFakeIssuer({ redirectUris: [CALLBACK] });
    second = await startFakeIssuer({ redirectUris: [CALLBACK], inUserinfo: true });
    app = new Hono().route('/auth', createSignOn(admin.services));
    teamId = (await admin.call('POST', '/teams', { body: { name: `sign-on ${crypto.randomUUID()}` } })).body.id;
    const add = async (name: string, one: FakeIssuer) => {
      const settings = { client_id: CLIENT.clientId, client_secret: CLIENT.clientSecret, issuer: one.issuer };
      const body = {
        name: `${name} ${crypto.randomUUID()}`,
        ...settings,
        group_roles: [{ group, team_id: teamId, role: 'member' }],
      };
      return (await admin.call('POST', '/identity-providers', { body })).body.id as string;
    };
    [providerId, secondId] = [await add('first', issuer), await add('second', second)];
  }, 60_000);
  afterAll(async () => {
    await Promise.all([issuer.close(), second.close()]);
    for (const id of [providerId, secondId]) await admin.call('DELETE', `/identity-providers/${id}`);
    await admin.close();
  });
  beforeEach(() => {
    browser = new Browser(app);
  });

  const login = (more = '', id = providerId) => browser.get(`/auth/login?provider=${id}${more}`);
  const atIssuer = async (begun: Response, one = issuer) => one.follow(begun.headers.get('location') ?? '');
  const signIn = async (more = '', id = providerId, one = issuer) =>
    browser.get(await atIssuer(await login(more, id), one));
  const asPerson = (method: string, path: string) =>
    admin.call(method, path, {
      token: null,
      headers: { cookie: browser.cookiesAt('/admin'), 'sec-fetch-site': 'same-origin' },
    });

  test('code flow with PKCE; the person is made, gets the role of the group, and has a session', async () => {
    const begun = await login('&return_to=/requests?a=1');
    const asked = new URL(begun.headers.get('location') ?? '').searchParams;
    expect([begun.status, asked.get('code_challenge_method'), asked.get('redirect_uri')]).toEqual([
      303,
      'S256',
      CALLBACK,
    ]);
    expect(asked.get('state')?.length).toBeGreaterThan(30);
    expect(asked.get('nonce')?.length).toBeGreaterThan(30);
    issuer.person = {
      sub: sub(),
      email: 'ann@example.com',
      email_verified: true,
      name: 'Ann',
      groups: ['others', group],
    };
    const answer = await browser.get(await atIssuer(begun));
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/requests?a=1']);
    const cookies = answer.headers.getSetCookie();
    expect(cookies.filter((set) => set.startsWith('llm0_session=')).length).toBe(2);
    for (const set of cookies.slice(0, 2)) expect(set).toContain('HttpOnly; SameSite=Strict; Max-Age=86400');
    expect(browser.has('llm0_sign_in')).toBe(false);
    const me = (await asPerson('GET', '/me')).body;
    expect(me).toMatchObject({
      name: 'Ann',
      email: 'ann@example.com',
      memberships: [{ team_id: teamId, role: 'member' }],
    });
    expect((await asPerson('GET', '/session')).body).toMatchObject({ name: 'ann@example.com', is_everywhere: false });
    expect((await asPerson('GET', '/tokens')).status).toBe(403);
    const { data } = (await admin.call('GET', '/audit?resource=session&action=sign_in&limit=1')).body;
    expect(data[0]).toMatchObject({ actor: 'ann@example.com', after: { user_id: me.id, is_new: true } });
  });

  test('groups are read again at each sign-in; 500 of them, in userinfo, work; a role by hand stays', async () => {
    const person = { sub: sub(), email: 'bob@example.com', name: 'Bob' };
    const many = Array.from({ length: 500 }, (_, n) => `group-${n}-${'x'.repeat(40)}`);
    second.person = { ...person, groups: [...many, group] };
    await signIn('', secondId, second);
    const { id, memberships } = (await asPerson('GET', '/me')).body;
    expect(memberships).toMatchObject([{ team_id: teamId, role: 'member' }]);
    const { body: byHand } = await admin.call('POST', '/teams', { body: { name: `by hand ${crypto.randomUUID()}` } });
    await admin.call('POST', `/teams/${byHand.id}/members`, { body: { user_id: id, role: 'viewer' } });
    second.person = { ...person, groups: many };
    await signIn('', secondId, second);
    expect((await asPerson('GET', '/me')).body).toMatchObject({
      id,
      memberships: [{ team_id: byHand.id, role: 'viewer' }],
    });
  });

  test('a user that was added before is taken over by a verified address only', async () => {
    const email = `${crypto.randomUUID()}@example.com`;
    const { body: waiting } = await admin.call('POST', '/users', { body: { name: 'Waiting', email } });
    issuer.person = { sub: sub(), email, email_verified: false };
    await signIn();
    expect((await asPerson('GET', '/me')).body.id).not.toBe(waiting.id);
    issuer.person = { sub: sub(), email: email.toUpperCase(), email_verified: true };
    await signIn();
    expect((await asPerson('GET', '/me')).body.id).toBe(waiting.id);
    // Another identity with the same address is somebody else.
    issuer.person = { sub: sub(), email, email_verified: true };
    await signIn();
    expect((await asPerson('GET', '/me')).body.id).not.toBe(waiting.id);
  });

  test('an answer is for the browser that asked, once, and for this sign-in', async () => {
    issuer.person = { sub: sub() };
    const back = await atIssuer(await login());
    const stranger = await new Browser(app).get(back);
    expect(stranger.headers.get('location')).toBe('/?sign_in=expired');
    const kept = browser.cookiesAt('/auth');
    expect((await browser.get(back)).headers.get('location')).toBe('/');
    // The browser's flow is over, and its cookie, kept by a thief, opens nothing more.
    expect((await browser.get(back)).headers.get('location')).toBe('/?sign_in=expired');
    browser.keep(`${kept.split('; ').find((one) => one.startsWith('llm0_sign_in'))}; Path=/auth`);
    expect((await browser.get(back)).headers.get('location')).toStartWith('/?sign_in=refused');
    // The state of another sign-in.
    const other = new URL(await atIssuer(await login()));
    other.searchParams.set('state', 'x'.repeat(43));
    const mixed = await browser.get(other.href);
    expect([
      mixed.headers.get('location'),
      mixed.headers.getSetCookie().some((set) => set.startsWith('llm0_session=')),
    ]).toEqual([expect.stringMatching(/^\/\?sign_in=refused/), false]);
  });

  test('a code of another browser is not taken in its place, nor one of another issuer', async () => {
    issuer.person = { sub: sub() };
    const victim = await login();
    const theirs = new URL(victim.headers.get('location') ?? '').searchParams.get('state') ?? '';
    const attacker = new Browser(app);
    const stolen = new URL(
      await issuer.follow((await attacker.get(`/auth/login?provider=${providerId}`)).headers.get('location') ?? ''),
    );
    stolen.searchParams.set('state', theirs);
    expect((await browser.get(stolen.href)).headers.get('location')).toStartWith('/?sign_in=refused');
    // Mix-up: the issuer names itself in its answer (RFC 9207).
    await login();
    second.person = { sub: sub() };
    const begun = await new Browser(app).get(`/auth/login?provider=${secondId}`);
    const mixed = new URL(await second.follow(begun.headers.get('location') ?? ''));
    expect(mixed.searchParams.get('iss')).toBe(second.issuer);
    const own = await login();
    mixed.searchParams.set('state', new URL(own.headers.get('location') ?? '').searchParams.get('state') ?? '');
    expect((await browser.get(mixed.href)).headers.get('location')).toStartWith('/?sign_in=refused');
  });

  test.each([
    '//evil.test',
    '/\\evil.test',
    'https://evil.test/',
    '/%0d%0aSet-Cookie:x',
    '\\/evil.test',
    '/a//../..//evil.test',
    '/\t/evil.test',
    'javascript:alert(1)',
    '/.//evil.test',
  ])('return_to=%s stays on the gateway', async (given) => {
    issuer.person = { sub: sub() };
    const location = (await signIn(`&return_to=${encodeURIComponent(given)}`)).headers.get('location') ?? '';
    expect(new URL(location, ORIGIN).origin).toBe(ORIGIN);
    expect(location).toStartWith('/');
    expect(location).not.toStartWith('//');
  });

  test('a session that was there before is not taken over: each sign-in has its own secret', async () => {
    const planted = '0'.repeat(64);
    for (const path of ['/admin', '/auth']) browser.keep(`llm0_session=${planted}; Path=${path}`);
    issuer.person = { sub: sub() };
    await signIn();
    expect(browser.cookiesAt('/admin')).not.toContain(planted);
    expect((await asPerson('GET', '/session')).status).toBe(200);
  });

  test('who refuses, is deactivated, or comes from an unknown provider has no session and learns why', async () => {
    issuer.person = null;
    expect((await signIn()).headers.get('location')).toStartWith('/?sign_in=denied&provider=');
    expect((await login('', crypto.randomUUID())).headers.get('location')).toBe('/?sign_in=unknown_provider');
    issuer.person = { sub: sub() };
    await signIn();
    const { id } = (await asPerson('GET', '/me')).body;
    await admin.call('PATCH', `/users/${id}`, { body: { is_active: false } });
    expect((await asPerson('GET', '/me')).status).toBe(401);
    expect((await signIn()).headers.get('location')).toStartWith('/?sign_in=deactivated');
    await admin.call('PATCH', `/users/${id}`, { body: { is_active: true } });
    await signIn();
    expect((await asPerson('GET', '/me')).body.id).toBe(id);
    expect((await admin.call('DELETE', `/users/${id}/sessions`)).body).toEqual({ ended: 1 });
    expect((await asPerson('GET', '/me')).status).toBe(401);
  });

  test('signing out ends the session here and at the issuer; a link of another site does not', async () => {
    issuer.person = { sub: sub() };
    await signIn();
    // Such a link comes without the cookie.
    await app.request(`${ORIGIN}/auth/logout`);
    expect((await asPerson('GET', '/me')).status).toBe(200);
    const cookie = browser.cookiesAt('/admin');
    const answer = await browser.get('/auth/logout');
    const target = new URL(answer.headers.get('location') ?? '');
    expect([target.origin, target.searchParams.get('client_id')]).toEqual([issuer.issuer, CLIENT.clientId]);
    expect(browser.cookiesAt('/admin')).toBe('');
    const replay = await admin.call('GET', '/me', {
      token: null,
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
    });
    expect(replay.status).toBe(401);
  });

  test('an unreachable issuer: sessions go on, new sign-ins say so', async () => {
    const brief = await startFakeIssuer({ redirectUris: [CALLBACK] });
    const body = {
      name: `brief ${crypto.randomUUID()}`,
      issuer: brief.issuer,
      client_id: CLIENT.clientId,
      client_secret: CLIENT.clientSecret,
    };
    const { body: provider } = await admin.call('POST', '/identity-providers', { body });
    brief.person = { sub: sub() };
    await signIn('', provider.id, brief);
    await brief.close();
    expect((await asPerson('GET', '/me')).status).toBe(200);
    const afresh = { ...admin.services, issuers: new Issuers(admin.services) };
    const later = new Browser(new Hono().route('/auth', createSignOn(afresh)));
    const answer = await later.get(`/auth/login?provider=${provider.id}`);
    expect(answer.headers.get('location')).toStartWith('/?sign_in=unreachable&provider=brief');
    // Its sessions end with it.
    await admin.call('DELETE', `/identity-providers/${provider.id}`);
    expect((await asPerson('GET', '/me')).status).toBe(401);
  });

  test('dangerous changes need a recent sign-in, which the issuer confirms', async () => {
    const { clock } = admin.services;
    const real = clock.nowMs;
    issuer.person = { sub: sub(), email: `${crypto.randomUUID()}@example.com`, email_verified: true, name: 'Ann' };
    await signIn();
    const { id: userId } = (await asPerson('GET', '/me')).body;
    const member = { user_id: userId, role: 'team_admin' };
    expect((await admin.call('POST', `/teams/${teamId}/members`, { body: member })).status).toBe(201);
    const makeProject = () => admin.createProject({ team_id: teamId });
    const remove = async (id: string) => {
      const { status, body } = await asPerson('DELETE', `/projects/${id}`);
      return [status, body?.error.code];
    };
    // This issuer tells when people signed in only if it is asked to.
    const { id } = await makeProject();
    expect(await remove(id)).toEqual([403, 'sign_in_again']);
    const begun = await browser.get(`/auth/login?again=true&return_to=/projects/${id}`);
    const asked = new URL(begun.headers.get('location') ?? '').searchParams;
    expect([asked.get('prompt'), asked.get('max_age')]).toEqual(['login', '0']);
    const answer = await browser.get(await atIssuer(begun));
    expect([answer.status, answer.headers.get('location')]).toEqual([303, `/projects/${id}`]);
    expect(await remove(id)).toEqual([204, undefined]);
    // Half an hour later it is too old again, and everything else still works.
    const second = await makeProject();
    Object.assign(clock, { nowMs: () => real() + 31 * 60_000 });
    expect(await remove(second.id)).toEqual([403, 'sign_in_again']);
    expect((await asPerson('PATCH', `/projects/${second.id}`)).status).not.toBe(403);
    Object.assign(admin.services.config.signOn, { reauthAfterMs: null });
    expect(await remove(second.id)).toEqual([204, undefined]);
    Object.assign(admin.services.config.signOn, { reauthAfterMs: 30 * 60_000 });
    Object.assign(clock, { nowMs: real });
    // Tokens have no sign-in, and the browser can't leave out the question.
    expect((await admin.call('DELETE', `/projects/${(await makeProject()).id}`)).status).toBe(204);
    const again = await browser.get('/auth/login?again=true');
    const address = new URL(again.headers.get('location') ?? '');
    for (const name of ['prompt', 'max_age']) address.searchParams.delete(name);
    const cheated = await browser.get(await issuer.follow(address.href));
    expect(cheated.headers.get('location')).toContain('sign_in=stale');
  });

  test('the provider of the environment: only its groups are set here; OIDC_REQUIRED keeps tokens out of the dashboard', async () => {
    const { db } = admin.database;
    const settings = {
      name: `env ${crypto.randomUUID()}`,
      issuer: `https://${crypto.randomUUID()}.test`,
      clientId: 'x',
    };
    await putEnvironmentProvider(db, { ...settings, scopes: 'openid', groupsClaim: 'groups' });
    const find = async () =>
      (await admin.call('GET', '/identity-providers?limit=1000')).body.data.find(
        (one: { issuer: string }) => one.issuer === settings.issuer,
      );
    const { id } = await find();
    const change = (body: object) => admin.call('PATCH', `/identity-providers/${id}`, { body });
    expect((await change({ client_id: 'y' })).status).toBe(400);
    expect((await change({ group_roles: [{ group, team_id: teamId, role: 'viewer' }] })).status).toBe(200);
    await putEnvironmentProvider(db, { ...settings, scopes: 'openid email', groupsClaim: 'groups' });
    expect(await find()).toMatchObject({ scopes: 'openid email', group_roles: [{ group }], is_from_environment: true });
    await putEnvironmentProvider(db, undefined);
    expect(await find()).toMatchObject({ is_active: false, is_from_environment: false });

    const strict = await openAdmin(kind, { signOn: { isRequired: true } });
    const signIn = { token: null, body: { token: ENV_TOKEN }, headers: { 'sec-fetch-site': 'same-origin' } };
    expect((await strict.call('POST', '/session', signIn)).body.error).toMatchObject({ code: 'permission_denied' });
    const open = await admin.call('POST', '/session', signIn);
    const cookie = (open.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const old = await strict.call('GET', '/projects', {
      token: null,
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
    });
    expect(old.status).toBe(401);
    expect((await strict.call('GET', '/projects?limit=1')).status).toBe(200);
    const { data } = (await strict.call('GET', '/audit?resource=admin_token&limit=2')).body;
    expect(data.map(({ after }: { after: { path: string } }) => after.path)).toEqual(['/v1/audit', '/v1/projects']);
    await strict.close();
  });
});
