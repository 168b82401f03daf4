import { afterAll, describe, expect, test } from 'bun:test';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { TEST_CERTIFICATE } from '../../__fixtures__/certificate';
import { fetchGuarded, type GuardedRequest, pinUrl } from './fetch-guarded';
import { inlineMedia } from './inline-media';
import { isPrivateAddress } from './private-addresses';

const never = new AbortController().signal;
const PIXEL = new Uint8Array([137, 80, 78, 71]);

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  routes: {
    '/pixel.png': () => new Response(PIXEL, { headers: { 'content-type': 'image/png; charset=x' } }),
    '/untold.png': () => new Response(PIXEL, { headers: { 'content-type': 'application/octet-stream' } }),
    '/page': () => new Response('<html></html>', { headers: { 'content-type': 'text/html' } }),
    '/host': (request) => new Response(request.headers.get('host')),
    '/large': () => new Response(new Uint8Array(5000)),
    '/endless': () =>
      new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1000)) })),
    '/slow': () => Bun.sleep(5000).then(() => new Response('late')),
    '/to': (request) => redirect(new URL(request.url).searchParams.get('url') ?? ''),
    '/plain': () => new Response('root:x:0', { headers: { 'content-type': 'text/plain' } }),
    '/notes.txt': () => new Response('root:x:0', { headers: { 'content-type': 'application/octet-stream' } }),
    '/drawing.svg': () => new Response('<svg/>', { headers: { 'content-type': 'image/svg+xml' } }),
    '/huge': () => new Response(new Uint8Array(21 * 1024 * 1024), { headers: { 'content-type': 'image/png' } }),
    '/round': () => redirect('/round'),
  },
  fetch: () => new Response('gone', { status: 404 }),
});
const secure = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  tls: TEST_CERTIFICATE,
  fetch: (request) => new Response(request.headers.get('host')),
});
afterAll(async () => {
  await server.stop(true);
  await secure.stop(true);
});

function redirect(location: string): Response {
  return new Response(null, { status: 302, headers: { location } });
}

/** Names as a resolver gives them; `media.test` is the test's server, and allowed. */
const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  'media.test': ['127.0.0.1'],
  'rebound.test': ['127.0.0.1'],
  'mixed.test': ['93.184.216.34', '10.0.0.1'],
  'empty.test': [],
};

function guarded(url: string, more: Partial<GuardedRequest> = {}) {
  return fetchGuarded({
    url,
    fetch,
    resolve: async (host) => {
      const found = ADDRESSES[host];
      if (found === undefined) throw new Error('ENOTFOUND');
      return found;
    },
    allowedHosts: new Set([`media.test:${server.port}`, `media.test:${secure.port}`]),
    timeoutMs: 2000,
    maxBytes: 4000,
    signal: never,
    ...more,
  });
}

const at = (path: string) => `http://media.test:${server.port}${path}`;

async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(error).toBeInstanceOf(GatewayError);
  expect((error as GatewayError).kind).toBe('invalid_request');
  return (error as GatewayError).message;
}

describe('addresses', () => {
  test.each([
    '127.0.0.1',
    '127.255.255.255',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '100.100.100.200',
    '168.63.129.16',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    'fe80::1',
    'fd00:ec2::254',
    'fc00::1',
    'ff02::1',
    '::ffff:8.8.8.8',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001:db8::1',
    'not an address',
    '',
  ])('%s is not public', (address) => expect(isPrivateAddress(address)).toBe(true));

  test.each(['8.8.8.8', '172.15.255.255', '172.32.0.1', '100.63.255.255', '2606:4700::1111', '2a00:1450:4001::200e'])(
    '%s is public',
    (address) => expect(isPrivateAddress(address)).toBe(false),
  );
});

describe('a URL from outside', () => {
  test.each([
    'http://localhost/x',
    'http://127.0.0.1/x',
    'http://127.1/x',
    'http://2130706433/x',
    'http://0x7f000001/x',
    'http://0177.0.0.1/x',
    'http://[::1]/x',
    'http://[::ffff:127.0.0.1]/x',
    'http://169.254.169.254/latest/meta-data',
    'http://rebound.test/x',
    'http://mixed.test/x',
  ])('%s leads to no public address', async (url) => {
    const resolve = async (host: string) => (host === 'localhost' ? ['127.0.0.1'] : (ADDRESSES[host] ?? []));
    expect(await refusalOf(guarded(url, { resolve }))).toContain('not public');
  });

  test.each<[string, string]>([
    ['ftp://media.test/x', 'not an http(s) URL'],
    ['file:///etc/passwd', 'not an http(s) URL'],
    ['nonsense', 'not a URL'],
    ['http://user:secret@media.test/x', 'credentials'],
    ['http://nowhere.test/x', 'could not be resolved'],
    ['http://empty.test/x', 'could not be resolved'],
  ])('%s is refused', async (url, words) => {
    const message = await refusalOf(guarded(url));
    expect(message).toContain(words);
    expect(message).not.toContain('secret');
  });

  test('an allowed one is fetched; the query is never told', async () => {
    const { bytes, contentType } = await guarded(at('/pixel.png?sig=1'));
    expect([...bytes]).toEqual([...PIXEL]);
    expect(contentType).toBe('image/png');
    expect(await refusalOf(guarded(at('/none?sig=hidden')))).not.toContain('hidden');
  });

  test('the server is asked by name, at the address that was checked', async () => {
    expect(Buffer.from((await guarded(at('/host'))).bytes).toString()).toBe(`media.test:${server.port}`);
    const pinned = await pinUrl('https://media.test:8443/a?b', { resolve: async () => ['2606:4700::1111'] });
    expect(pinned).toEqual({
      url: 'https://[2606:4700::1111]:8443/a?b',
      host: 'media.test:8443',
      serverName: 'media.test',
    });
  });

  test('a name is resolved once', async () => {
    let asked = 0;
    const resolve = async () => {
      asked += 1;
      return ['127.0.0.1'];
    };
    await guarded(at('/pixel.png'), { resolve });
    expect(asked).toBe(1);
  });

  test('over TLS the certificate must name the host, not the address', async () => {
    const ca = TEST_CERTIFICATE.cert;
    const { bytes } = await guarded(`https://media.test:${secure.port}/`, { ca });
    expect(Buffer.from(bytes).toString()).toBe(`media.test:${secure.port}`);
    const allowedHosts = new Set([`rebound.test:${secure.port}`]);
    const wrong = guarded(`https://rebound.test:${secure.port}/`, { ca, allowedHosts });
    expect(await refusalOf(wrong)).toContain('could not be fetched');
  });

  test.each<[string, string]>([
    [`http://127.0.0.1:${server.port}/pixel.png`, 'not public'],
    ['http://169.254.169.254/', 'not public'],
    ['file:///etc/passwd', 'not an http(s) URL'],
  ])('a redirect to %s is checked anew', async (target, words) => {
    expect(await refusalOf(guarded(at(`/to?url=${encodeURIComponent(target)}`)))).toContain(words);
  });

  test('redirects are followed, not for ever', async () => {
    expect((await guarded(at('/to?url=/pixel.png'))).contentType).toBe('image/png');
    expect(await refusalOf(guarded(at('/round')))).toContain('redirects more than');
  });

  test.each<[string, Partial<GuardedRequest>, string]>([
    ['/large', {}, 'larger than 4000'],
    ['/endless', {}, 'larger than 4000'],
    ['/slow', { timeoutMs: 50 }, 'within 50 ms'],
    ['/none', {}, 'status 404'],
  ])('%s is bounded', async (path, more, words) => {
    expect(await refusalOf(guarded(at(path), more))).toContain(words);
  });

  test('a resolver that hangs is not waited for', async () => {
    const resolve = () => new Promise<never>(() => {});
    expect(await refusalOf(guarded(at('/pixel.png'), { resolve, timeoutMs: 50 }))).toContain('within 50 ms');
  });

  test('a caller that leaves ends it', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 20);
    await expect(guarded(at('/slow'), { signal: controller.signal })).rejects.toMatchObject({ kind: 'client_closed' });
  });
});

describe('media of a request', () => {
  const options = {
    fetch,
    resolve: async () => ['127.0.0.1'],
    allowedHosts: new Set(['media.test']),
    timeoutMs: 2000,
    signal: never,
  };

  test('is fetched with its type, told or by name', async () => {
    const media = await inlineMedia([at('/pixel.png'), at('/untold.png')], options);
    expect([...media.keys()].sort()).toEqual([at('/pixel.png'), at('/untold.png')]);
    for (const one of media.values()) expect(one).toEqual({ mimeType: 'image/png', dataBase64: 'iVBORw==' });
  });

  test('every failure has the same message and the same minimum time', async () => {
    const free = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
    const closed = free.port;
    await free.stop(true);
    const resolve = async (host: string) => {
      if (host === 'nowhere.test') throw new Error('ENOTFOUND');
      return ['127.0.0.1'];
    };
    const urls = [
      ...[at('/page'), at('/notes.txt'), at('/plain'), at('/drawing.svg'), at('/none'), at('/huge'), at('/endless')],
      ...[at('/round'), at('/to?url=http://10.0.0.1/'), `http://media.test:${closed}/x`, 'http://10.0.0.1/pixel.png'],
      ...['http://nowhere.test/x', 'http://other.test/x', at('/slow')],
    ];
    const refusals = await Promise.all(
      urls.map(async (url) => {
        const startMs = performance.now();
        const message = await refusalOf(inlineMedia([url], { ...options, resolve, timeoutMs: 400 }));
        expect(performance.now() - startMs).toBeGreaterThan(290);
        return message.replace(/"[^"]*"/, 'URL');
      }),
    );
    expect(new Set(refusals).size).toBe(1);
    expect(refusals[0]).toContain('public address');
  });

  test('one that cannot be fetched at all is said at once', async () => {
    expect(await refusalOf(inlineMedia(['file:///etc/passwd'], options))).toContain('not an http(s) URL');
    expect(await refusalOf(inlineMedia(['http://a:b@media.test/x'], options))).toContain('credentials');
  });

  test('all of a request together are bounded while they come', async () => {
    const error = await inlineMedia(
      Array.from({ length: 8 }, (_, i) => at(`/endless?${i}`)),
      // A busy machine takes its time for 20 MB.
      { ...options, timeoutMs: 30_000 },
    ).catch((cause: unknown) => cause);
    expect(String((error as GatewayError).cause)).toContain('larger than 20971520 bytes together');
  });

  test('too many URLs are no media', async () => {
    const many = Array.from({ length: 101 }, (_, i) => at(`/pixel.png?${i}`));
    expect(await refusalOf(inlineMedia(many, options))).toContain('more than 100');
  });
});
