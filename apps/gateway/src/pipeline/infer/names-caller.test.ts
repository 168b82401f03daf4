import { describe, expect, test } from 'bun:test';
import { namesCaller } from './names-caller';
import { CACHE_KINDS, cached, cacheOf, inferForEachTest } from './open-infer.fixture';

const NAMING = [
  ...['X-Auth-Token', 'X-User-Id', 'X-User', 'X-Userid', 'X-UserName', 'X_User_Id', 'x.account.id', 'X-Tenant', 'From'],
  ...['X-Tenant-Id', 'X-Session-Id', 'X-SessionId', 'Session', 'X-Access-Token', 'X-CSRFToken', 'X-XSRF-TOKEN'],
  ...['X-Amz-Security-Token', 'X-Authorization', 'X-Authentication', 'X-Secret', 'Signature', 'X-Hub-Signature-256'],
  ...['X-Key', 'X-Subscription-Key', 'X-ApiKey', 'X-Credentials', 'X-JWT', 'JWT-Assertion', 'X-Login', 'X-User-Email'],
  ...['X-Mail', 'X-Org-Id', 'OpenAI-Organization', 'X-Client-Id', 'X-ClientId', 'X-Device-Id', 'X-Principal', 'X-UID'],
  ...['X-User-Agent-Id', 'X-Member-Id', 'X-Customer', 'X-Password'],
];

/** What clients send by themselves, and what tells one request or one program from another. */
const NOT_NAMING = {
  curl: ['User-Agent', 'Accept', 'Accept-Encoding', 'Content-Type', 'Content-Length', 'Expect', 'Range'],
  'Node’s fetch and Bun': ['Accept-Language', 'Sec-Fetch-Mode', 'Connection', 'Keep-Alive'],
  'axios, jQuery': ['X-Requested-With', 'Origin', 'Referer'],
  requests: ['Pragma', 'Cache-Control', 'If-None-Match', 'If-Modified-Since'],
  'Go, Java, .NET': ['Te', 'Trailer', 'Upgrade', 'HTTP2-Settings', 'Request-Id', 'Correlation-Context'],
  'gRPC-Web, AWS': ['X-User-Agent', 'X-Grpc-Web', 'Grpc-Timeout', 'X-Amz-User-Agent', 'Amz-Sdk-Invocation-Id'],
  browsers: [
    ...['Sec-CH-UA', 'Sec-CH-UA-Platform', 'Sec-Fetch-User', 'Sec-WebSocket-Key', 'Sec-GPC', 'DNT', 'Save-Data'],
    ...['Upgrade-Insecure-Requests', 'Priority', 'Purpose', 'Viewport-Width', 'Device-Memory', 'RTT', 'ECT'],
    ...['Access-Control-Request-Headers', 'Service-Worker', 'Accept-Signature', 'Accept-CH'],
  ],
  'libraries of vendors': [
    ...['X-Stainless-Lang', 'X-Stainless-Runtime-Version', 'X-Stainless-Retry-Count', 'X-Stainless-OS'],
    ...['X-Client-Version', 'X-Goog-Api-Client', 'X-OpenAI-Client-User-Agent', 'Anthropic-Version', 'OpenAI-Beta'],
  ],
  'one request': ['Idempotency-Key', 'X-Idempotency-Key', 'X-Correlation-Id', 'X-Max-Tokens', 'Digest', 'Content-MD5'],
  traces: ['Sentry-Trace', 'Baggage', 'X-B3-TraceId', 'X-Amzn-Trace-Id', 'X-Cloud-Trace-Context', 'Newrelic'],
};

const names = (name: string, headers: Record<string, string> = {}) =>
  namesCaller({ [name.toLowerCase()]: 'a' }, { headers });

describe('headers that may say who the caller is', () => {
  test.each(NAMING)('%s does', (name) => {
    expect(names(name)).toBe(true);
    expect(names(name, { [name]: 'the operator’s' })).toBe(false);
  });

  test.each(Object.entries(NOT_NAMING))('none that %s send', (_, sent) => {
    expect(sent.filter((name) => names(name))).toEqual([]);
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
    const { ask, world, other } = await open({ kind });
    world.origin = (request) => new Response(`for ${request.headers.get('x-user-id') ?? 'all'}`);
    const headers = { 'x-user-id': '7' };
    const asked = [ask('/me'), ask('/me', { headers }), ask('/me', { headers: { 'x-user-id': '8' } })];
    const bodies = await Promise.all((await Promise.all(asked)).map((answer) => answer.text()));
    expect(bodies).toEqual(['for all', 'for 7', 'for 8']);
    expect(await (await ask('/me', { headers })).text()).toBe('for 7');
    const anybody = await other()('/me');
    expect([cacheOf(anybody), await anybody.text()]).toEqual([kind === 'shared' ? 'HIT' : 'MISS', 'for all']);
  });

  test.each(CACHE_KINDS)('what is said to be for all is for them as well, until it changes (%s)', async (kind) => {
    const { ask, world } = await open({ kind });
    world.origin = (_, seen) => cached(`answer ${seen}`);
    const named = (user: string) => ask('/x', { headers: { 'x-user-id': user } });
    for (const user of ['7', '8']) expect(await (await named(user)).text()).toBe('answer 1');
    await (await ask('/x', { method: 'POST', body: 'change' })).text();
    expect(cacheOf(await named('8'))).toBe('MISS');
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
