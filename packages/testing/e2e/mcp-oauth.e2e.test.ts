import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { OAUTH_CLIENT_SECRET, type OauthServerUnderTest, startOauthServer } from '../mcp/start-oauth-server';
import { callAdmin } from '../stores/start-gateway';
import { ON_ONE_KIND, shareEnvironment, type TestEnvironment } from './environment';

const MODERN = '2026-07-28';
const META = 'io.modelcontextprotocol/';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever JSON came back
  readonly body: any;
}

describe.each(ON_ONE_KIND)('servers that ask who the user is, on %s stores', (kind) => {
  let environment: TestEnvironment;
  let guarded: OauthServerUnderTest;
  let projectId: string;
  let alias: string;
  let serverId: string;

  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever JSON came back
  const admin = (method: string, path: string, body?: object): Promise<any> =>
    callAdmin(environment.gateway, path, { method, body });
  const makeKey = async (name = 'agent') => {
    const body = { name, rate_limit_per_minute: null, allowed_tools: ['*'] };
    return String((await admin('POST', `/projects/${projectId}/keys`, body)).key);
  };

  interface Asking {
    readonly customer?: string;
    readonly capabilities?: object;
    readonly more?: object;
  }
  const ask = async (
    key: string | undefined,
    method: string,
    params: object,
    { customer, capabilities = {}, more }: Asking = {},
  ): Promise<Answer> => {
    const name = (params as { name?: string }).name;
    const _meta = { [`${META}protocolVersion`]: MODERN, [`${META}clientCapabilities`]: capabilities };
    const response = await fetch(`${environment.gateway.url}/mcp/${alias}`, {
      method: 'POST',
      headers: {
        ...{ 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
        ...{ 'MCP-Protocol-Version': MODERN, 'Mcp-Method': method },
        ...(name === undefined ? {} : { 'Mcp-Name': name }),
        ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
        ...(customer === undefined ? {} : { 'X-Customer-ID': customer }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, ...more, _meta } }),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  const whoami = (key: string, more?: Asking) => ask(key, 'tools/call', { name: 'whoami', arguments: {} }, more);
  const linkOf = ({ body }: Answer): string => body.error.data.elicitations[0].url;

  /** The page's button. */
  const press = (
    link: string,
    { cookie, token, headers = {} }: { cookie: string; token: string; headers?: Record<string, string> },
  ) =>
    fetch(link, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: new URL(link).origin, cookie, ...headers },
      body: new URLSearchParams({ token }),
    });
  /** What a browser does: the page, its button, the authorization server, and back. */
  const consent = async (
    link: string,
    cookieOf = (sent: string) => sent,
  ): Promise<{ status: number; text: string; back: string }> => {
    const page = await fetch(link);
    expect([page.status, page.headers.get('content-security-policy')]).toEqual([
      200,
      expect.stringContaining("default-src 'none'"),
    ]);
    const shown = (page.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const [, token = ''] = /name="token" value="([^"]+)"/.exec(await page.text()) ?? [];
    const begun = await press(link, { cookie: shown, token });
    expect(begun.status).toBe(303);
    const cookie = cookieOf((begun.headers.get('set-cookie') ?? '').split(';')[0] ?? '');
    const allowed = await fetch(begun.headers.get('location') ?? '', { redirect: 'manual' });
    const back = allowed.headers.get('location') ?? '';
    const done = await fetch(back, { headers: { cookie } });
    return { status: done.status, text: await done.text(), back };
  };

  const addServer = async (auth: object) => {
    alias = `g-${crypto.randomUUID().slice(0, 8)}`;
    serverId = (await admin('POST', '/mcp/servers', { approve: 'all', alias, url: guarded.url, auth })).id;
  };

  beforeAll(async () => {
    const port = 20_000 + Math.floor(Math.random() * 20_000);
    const env = { PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}/` };
    environment = await shareEnvironment({ kind, env });
    projectId = String((await admin('POST', '/projects', { name: 'agents' })).id);
  }, 120_000);
  beforeEach(async () => {
    await guarded?.stop();
    guarded = startOauthServer();
  });
  afterAll(async () => {
    await guarded.stop();
    await environment.close();
  });

  test("the gateway's own token: got once for all, for this server alone, and anew where it is refused", async () => {
    await addServer({ type: 'oauth_client', client_id: 'operator-client', client_secret: OAUTH_CLIENT_SECRET });
    const key = await makeKey();
    expect((await whoami(key)).body.result.content[0].text).toStartWith('you are');
    await Promise.all(Array.from({ length: 5 }, () => whoami(key)));
    expect(guarded.asked).toHaveLength(1);
    expect(guarded.asked[0]).toMatchObject({ grant_type: 'client_credentials', resource: guarded.url });
    guarded.tokens.clear();
    expect((await whoami(key)).body.result.isError).toBeUndefined();
    expect(guarded.asked).toHaveLength(2);
    expect(guarded.seen.every((authorization) => /^Bearer token-/.test(authorization))).toBe(true);
    const shown = await admin('GET', `/mcp/servers/${serverId}`);
    expect(shown.auth).toEqual({ type: 'oauth_client', client_id: 'operator-client' });
    expect(JSON.stringify(shown)).not.toContain(OAUTH_CLIENT_SECRET);
  }, 60_000);

  test('a user consents once, and is nobody else: neither another key nor another customer', async () => {
    await addServer({ type: 'oauth_user' });
    const key = await makeKey('key of ann <b>');
    const first = await whoami(key);
    expect([first.status, first.body.error.code]).toEqual([200, -32042]);
    const link = linkOf(first);
    expect(await (await fetch(link)).text()).toContain('key of ann &#60;b&#62;');
    const { status, text } = await consent(link);
    expect([status, text]).toEqual([200, expect.stringContaining('is connected')]);
    expect((await whoami(key)).body.result.content[0].text).toStartWith('you are');
    const listed = await ask(key, 'tools/list', {});
    expect(listed.body.result.tools.map(({ name }: { name: string }) => name)).toEqual(['whoami']);
    expect((await whoami(key, { customer: 'bob' })).body.error.code).toBe(-32042);
    expect((await whoami(await makeKey())).body.error.code).toBe(-32042);
    const [asked] = guarded.asked;
    expect(asked).toMatchObject({ grant_type: 'authorization_code', resource: guarded.url });
    expect(guarded.seen.some((authorization) => authorization.includes('llm0_'))).toBe(false);
  }, 60_000);

  test('no other site presses the button: it takes the page, its cookie and its token', async () => {
    await addServer({ type: 'oauth_user' });
    const open = async (link: string) => {
      const page = await fetch(link);
      const cookie = (page.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
      return { cookie, token: /name="token" value="([^"]+)"/.exec(await page.text())?.[1] ?? '' };
    };
    const link = linkOf(await whoami(await makeKey()));
    const [mine, attackers] = [await open(link), await open(link)];
    const foreign = await open(linkOf(await whoami(await makeKey(), { customer: 'eve' })));
    expect(new Set([mine.token, attackers.token, foreign.token]).size).toBe(3);
    const refused: Parameters<typeof press>[1][] = [
      { ...mine, cookie: '' },
      { ...mine, token: '' },
      { ...mine, token: attackers.token },
      { ...mine, token: foreign.token },
      { ...mine, headers: { origin: 'https://evil.test' } },
      { ...mine, headers: { origin: 'http://evil.test', host: 'evil.test' } },
      { ...mine, headers: { origin: new URL(link).origin.replace('http:', 'https:') } },
      { ...mine, headers: { origin: 'null' } },
      { ...mine, headers: { 'sec-fetch-site': 'cross-site' } },
      { ...mine, headers: { 'sec-fetch-site': 'same-site' } },
    ];
    for (const given of refused) {
      const { status, headers } = await press(link, given);
      expect([status, headers.get('location')]).toEqual([403, null]);
    }
    const bare = await fetch(link, { method: 'POST', redirect: 'manual', headers: { cookie: mine.cookie } });
    expect(bare.status).toBe(403);
    expect((await press(link, { ...mine, headers: { 'sec-fetch-site': 'same-origin' } })).status).toBe(303);
  }, 60_000);

  test('nothing is charged for a call that waits for consent', async () => {
    await addServer({ type: 'oauth_user' });
    await admin('PATCH', `/mcp/servers/${serverId}`, { price_per_call_usd: 1 });
    const key = await makeKey();
    await consent(linkOf(await whoami(await makeKey())));
    await whoami(key);
    const isEven = async () => (await admin('GET', `/reconcile?project_id=${projectId}`)).ok === true;
    for (let look = 0; look < 50 && !(await isEven()); look++) await Bun.sleep(100);
    expect(await isEven()).toBe(true);
    const { data } = await admin('GET', `/projects/${projectId}/keys?limit=1`);
    expect(Number(data[0].spent_usd)).toBe(0);
  }, 60_000);

  test('an answer for another browser, another issuer, or the same one twice, is worth nothing', async () => {
    await addServer({ type: 'oauth_user' });
    const key = await makeKey();
    const first = linkOf(await whoami(key));
    expect(linkOf(await whoami(key))).toBe(first);
    const other = await consent(first, () => 'llm0_mcp_consent=other');
    expect([other.status, other.text]).toEqual([400, expect.stringContaining('Not connected')]);
    // The failed flow took its link along.
    const next = linkOf(await whoami(key));
    expect([next === first, (await fetch(first)).status]).toEqual([false, 404]);
    guarded.issAs = 'https://evil.test';
    const forged = await consent(linkOf(await whoami(await makeKey())));
    expect([forged.status, guarded.asked.length]).toEqual([502, 0]);
    guarded.issAs = undefined;
    const right = await consent(linkOf(await whoami(await makeKey())));
    expect(right.status).toBe(200);
    expect((await fetch(right.back)).status).toBe(400);
    expect((await fetch(`${environment.gateway.url}/mcp/oauth/start/none`)).status).toBe(404);
    expect((await whoami(key)).body.error.code).toBe(-32042);
    expect((await consent(next)).status).toBe(200);
  }, 60_000);

  test('a token that has ended is refreshed, by many calls at once only once; where that is refused, consent is asked again', async () => {
    await addServer({ type: 'oauth_user' });
    const key = await makeKey();
    await consent(linkOf(await whoami(key)));
    guarded.tokens.clear();
    const all = await Promise.all(Array.from({ length: 8 }, () => whoami(key)));
    expect(all.map(({ body }) => body.error?.message)).toEqual(Array(8).fill(undefined));
    const refreshed = () => guarded.asked.filter(({ grant_type: type }) => type === 'refresh_token').length;
    expect(refreshed()).toBe(1);
    guarded.tokens.clear();
    guarded.refreshTokens.clear();
    expect((await whoami(key)).body.error.code).toBe(-32042);
  }, 60_000);

  test('a client that opens links is asked in the protocol itself, and the server never hears of it', async () => {
    await addServer({ type: 'oauth_user' });
    const key = await makeKey();
    const capabilities = { elicitation: { url: {} } };
    await consent(linkOf(await whoami(await makeKey())));
    const asked = await whoami(key, { capabilities });
    const { params } = asked.body.result.inputRequests['dev.llm0/consent'];
    expect([asked.body.result.resultType, params.mode]).toEqual(['input_required', 'url']);
    await consent(params.url);
    const more = { inputResponses: { 'dev.llm0/consent': { action: 'accept' } } };
    expect((await whoami(key, { capabilities, more })).body.result.content[0].text).toStartWith('you are');
  }, 60_000);

  test('an operator makes the link, sees who consented without any token, and takes it away', async () => {
    await addServer({ type: 'oauth_user', scope: 'read' });
    const key = await makeKey();
    const health = async () => (await admin('GET', `/mcp/servers/${serverId}`)).health;
    expect(await health()).toMatchObject({ state: 'unknown', error: null });
    expect((await whoami(key, { customer: 'ann' })).body.error?.code).toBe(-32042);
    expect(await health()).toMatchObject({ state: 'unknown', error: null });
    const { data: keys } = await admin('GET', `/projects/${projectId}/keys?limit=1`);
    const body = { api_key_id: keys[0].id, customer_id: 'ann' };
    const { url } = await admin('POST', `/mcp/servers/${serverId}/consent`, body);
    expect((await consent(url)).status).toBe(200);
    expect((await whoami(key, { customer: 'ann' })).body.result.content[0].text).toStartWith('you are');
    expect((await health()).state).toBe('ok');
    const { data } = await admin('GET', `/mcp/servers/${serverId}/grants`);
    expect(data).toMatchObject([{ ...body, issuer: guarded.issuer, scope: 'read' }]);
    expect(JSON.stringify(data)).not.toContain('token-');
    await admin('DELETE', `/mcp/servers/${serverId}/grants/${data[0].id}`);
    const isGone = async () => (await whoami(key, { customer: 'ann' })).body.error?.code === -32042;
    for (let look = 0; look < 150 && !(await isGone()); look++) await Bun.sleep(50);
    expect(await isGone()).toBe(true);
  }, 60_000);

  test('without a key a client learns how to come in', async () => {
    const { status, headers } = await ask(undefined, 'tools/list', {});
    const [, url = ''] = /resource_metadata="([^"]+)"/.exec(headers.get('www-authenticate') ?? '') ?? [];
    expect(status).toBe(401);
    const document = await (await fetch(url)).json();
    expect(document).toMatchObject({
      resource: `${environment.gateway.url}/mcp/${alias}`,
      bearer_methods_supported: ['header'],
    });
    const client = await (await fetch(`${environment.gateway.url}/mcp/oauth/client.json`)).json();
    expect(client).toMatchObject({
      client_id: `${environment.gateway.url}/mcp/oauth/client.json`,
      token_endpoint_auth_method: 'none',
    });
  }, 60_000);
});
