import { describe, expect, test } from 'bun:test';
import { namesCaller } from './names-caller';
import { CACHE_KINDS, cached, cacheOf, inferForEachTest } from './open-infer.fixture';

const NAMING = [
  ...[
    'X-Auth-Token',
    'X-User-Id',
    'X_User_Id',
    'X-Tenant',
    'From',
    'Cookie',
    'X-Anything',
    'Baggage',
    'X-Forwarded-User',
  ],
  ...['Remote-Groups', 'Remote-Name', 'X-WEBAUTH-ROLE', 'OIDC_CLAIM_sub', 'X-Userinfo', 'Impersonate-User'],
  ...['X-Remote-Group', 'X-MS-TOKEN-AAD', 'Client-Cert', 'X-HTTP-Host-Override', 'X-Real-Host', 'X-Script-Name'],
];

/** What clients and proxies send by themselves, and what is said to the gateway. */
const NOT_NAMING = {
  clients: ['User-Agent', 'Accept', 'Accept-Encoding', 'Accept-Language', 'Content-Type', 'Content-Length', 'Range'],
  browsers: ['Sec-CH-UA', 'Sec-Fetch-User', 'DNT', 'Priority', 'Origin', 'Referer', 'Upgrade-Insecure-Requests'],
  'libraries of vendors': ['X-Stainless-Lang', 'X-Stainless-Retry-Count'],
  proxies: ['X-Forwarded-For', 'X-Forwarded-Proto', 'Via', 'X-Real-IP', 'CF-Ray', 'X-Amzn-Trace-Id'],
  'callers of the gateway': ['Authorization', 'X-Api-Key', 'X-Customer-ID', 'X-LLM0-Team', 'Traceparent'],
};

const names = (name: string, headers: Record<string, string> = {}, forwardHeaders: string[] = []) =>
  namesCaller(new Headers({ [name]: 'a' }), { headers, forwardHeaders });

describe('headers that may say who the caller is', () => {
  test.each(NAMING)('%s does', (name) => {
    expect(names(name)).toBe(true);
    expect(names(name, { [name]: 'the operator’s' })).toBe(false);
  });

  test.each(Object.entries(NOT_NAMING))('none that %s send', (_, sent) => {
    expect(sent.filter((name) => names(name))).toEqual([]);
  });

  test('one that the operator lets go on', () => {
    expect(names('X-Customer-ID', {}, ['x-customer-id'])).toBe(true);
  });
});

describe('an answer that says nothing of caches', () => {
  const open = inferForEachTest();

  test.each([
    { of: 'CACHE_TTL', options: {} },
    { of: 'its backend', options: { ttlMs: 0, backend: { cache: { enabled: true, ttlSeconds: 60 } } } },
  ])('is kept as $of says for all that have a User-Agent', async ({ options }) => {
    const { ask, world } = await open(options);
    const headers = { 'user-agent': 'curl/8.5.0', 'accept-language': 'en', 'sec-fetch-mode': 'cors' };
    for (const _ of 'ab') await (await ask('/x', { headers })).text();
    expect(cacheOf(await ask('/x', { headers: { ...headers, 'user-agent': 'Go-http-client/1.1' } }))).toBe('HIT');
    expect(world.asked).toHaveLength(1);
  });

  test.each(CACHE_KINDS)('and came to nobody in particular is for nobody who says who it is (%s)', async (kind) => {
    const { ask, world, other } = await open({ kind, backend: { forwardHeaders: ['x-user-id'] } });
    world.origin = (request) => new Response(`for ${request.headers.get('x-user-id') ?? 'all'}`);
    const headers = { 'x-user-id': '7' };
    const asked = [ask('/me'), ask('/me', { headers }), ask('/me', { headers: { 'x-user-id': '8' } })];
    const bodies = await Promise.all((await Promise.all(asked)).map((answer) => answer.text()));
    expect(bodies).toEqual(['for all', 'for 7', 'for 8']);
    expect(await (await ask('/me', { headers })).text()).toBe('for 7');
    const anybody = await other()('/me');
    expect([cacheOf(anybody), await anybody.text()]).toEqual([kind === 'shared' ? 'HIT' : 'MISS', 'for all']);
  });

  test.each(CACHE_KINDS)('shared servers serve them too, until a change (%s)', async (kind) => {
    const { ask, world } = await open({ kind });
    world.origin = (_, seen) => cached(`answer ${seen}`);
    const named = (user: string) => ask('/x', { headers: { 'x-user-id': user } });
    for (const user of ['7', '8']) expect(await (await named(user)).text()).toBe('answer 1');
    await (await ask('/x', { method: 'POST', body: 'change' })).text();
    expect(cacheOf(await named('8'))).toBe('MISS');
  });

  test.each(CACHE_KINDS)('is kept as the operator said, for each value of what goes on (%s)', async (kind) => {
    const { ask, world } = await open({
      ...{ kind, ttlMs: 0 },
      backend: { forwardHeaders: ['x-user-id'], cache: { enabled: true, ttlSeconds: 60 } },
    });
    world.origin = (request) => new Response(`for ${request.headers.get('x-user-id') ?? 'all'}`);
    for (const user of ['7', '8', '7', '8', '7']) {
      const headers = { 'x-user-id': user, 'x-seen-by-nobody': String(Math.random()) };
      expect(await (await ask('/me', { headers })).text()).toBe(`for ${user}`);
    }
    expect(await (await ask('/me')).text()).toBe('for all');
    expect(world.asked).toHaveLength(3);
  });

  test('and chooses by User-Agent is kept for each of them', async () => {
    const { ask, world } = await open();
    world.origin = (request) => new Response(request.headers.get('user-agent'), { headers: { vary: 'User-Agent' } });
    for (const agent of ['a', 'b', 'a', 'b']) {
      expect(await (await ask('/x', { headers: { 'user-agent': agent } })).text()).toBe(agent);
    }
    expect(world.asked).toHaveLength(2);
  });
});
