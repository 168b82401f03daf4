// What callers may do on the wire, and what a backend may: over sockets, since clients mend what they send.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { type HttpBackend, startHttpBackend } from '../fake-upstream/start-http-backend';
import { hostGateway } from '../stores/host-gateway';
import { callAdmin, createTestKey, type GatewayProcess } from '../stores/start-gateway';
import { logRow, settledLedger, shareEnvironment, type TestEnvironment, waitUntil } from './environment';

const SETUP_MS = 60_000;

describe('hostile requests to backends', () => {
  let world: TestEnvironment;
  let apiKey: string;
  let backend: HttpBackend;
  let raw: Server;
  let rawUrl: string;
  /** What the raw backend writes for a connection, and then does. */
  let speak: (socket: Socket) => void = () => {};
  beforeAll(async () => {
    backend = startHttpBackend();
    raw = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => speak(socket));
    });
    await new Promise<void>((resolve) => raw.listen(0, '127.0.0.1', resolve));
    rawUrl = `http://127.0.0.1:${(raw.address() as { port: number }).port}`;
    world = await shareEnvironment({
      kind: 'real',
      env: {
        ...{ BACKEND_ECHO_URL: backend.url, STREAM_IDLE_TIMEOUT: '1s' },
        ...{ MAX_RESPONSE_BYTES: '1000000', MAX_BODY_BYTES: '1000000' },
      },
    });
  }, SETUP_MS);
  beforeEach(async () => {
    backend.seen.length = 0;
    backend.answer = () => Response.json({ ok: true });
    ({ apiKey } = await createTestKey(world.gateway));
  });
  afterAll(async () => {
    raw.close();
    await world.close();
    await backend.stop();
  }, SETUP_MS);

  /** Sends bytes as they are; gives all that comes until the end, or for so long. */
  const send = (parts: readonly string[], forMs = 5000): Promise<string> => {
    const { port, hostname } = new URL(world.gateway.url);
    const { promise, resolve } = Promise.withResolvers<string>();
    let text = '';
    const socket = connect(Number(port), hostname, async () => {
      for (const part of parts) {
        socket.write(part);
        await Bun.sleep(10);
      }
    });
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
    setTimeout(() => {
      socket.destroy();
      resolve(text);
    }, forMs);
    return promise;
  };
  const head = (line: string, ...more: string[]) =>
    [`${line} HTTP/1.1`, 'Host: gateway.test', `Authorization: Bearer ${apiKey}`, ...more, '', ''].join('\r\n');
  const targets = () => backend.seen.map(({ method, target }) => `${method} ${target}`);

  describe('request smuggling', () => {
    const hidden = 'GET /infer/echo/smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
    const cases: readonly [name: string, () => string][] = [
      [
        'both lengths, the chunks end first',
        () =>
          `${head('POST /infer/echo/a', `Content-Length: ${5 + hidden.length}`, 'Transfer-Encoding: chunked')}0\r\n\r\n${hidden}`,
      ],
      [
        'both lengths, the length ends first',
        () =>
          `${head('POST /infer/echo/a', 'Content-Length: 4', 'Transfer-Encoding: chunked')}5c\r\n${hidden}\r\n0\r\n\r\n`,
      ],
      [
        'two lengths that differ',
        () => `${head('POST /infer/echo/a', 'Content-Length: 4', 'Content-Length: 40')}aaaa${hidden}`,
      ],
      ['a length with a sign', () => `${head('POST /infer/echo/a', 'Content-Length: +4')}aaaa${hidden}`],
      [
        'an encoding that is not known',
        () => `${head('POST /infer/echo/a', 'Transfer-Encoding: xchunked')}0\r\n\r\n${hidden}`,
      ],
      [
        'an encoding behind another',
        () => `${head('POST /infer/echo/a', 'Transfer-Encoding: chunked, identity')}0\r\n\r\n${hidden}`,
      ],
      [
        'a space before the colon',
        () => `${head('POST /infer/echo/a', 'Transfer-Encoding : chunked', 'Content-Length: 4')}0\r\n\r\n${hidden}`,
      ],
      [
        'a line end in a header',
        () => `${head('POST /infer/echo/a', 'X-A: b\rTransfer-Encoding: chunked', 'Content-Length: 4')}aaaa${hidden}`,
      ],
      ['a chunk size that is none', () => `${head('POST /infer/echo/a', 'Transfer-Encoding: chunked')}zz\r\n${hidden}`],
      ['a GET with a body', () => `${head('GET /infer/echo/a', `Content-Length: ${hidden.length}`)}${hidden}`],
      ['a GET with chunks', () => `${head('GET /infer/echo/a', 'Transfer-Encoding: chunked')}0\r\n\r\n${hidden}`],
    ];
    test.each(cases)('%s: what is hidden in it reaches no backend', async (_name, build) => {
      // What is left of it may keep the connection open.
      await send([build()], 600);
      expect(targets().filter((target) => target.includes('smuggled'))).toEqual([]);
      // Whatever went on has one length: what the backend read is what its headers say.
      for (const { headers, body } of backend.seen) {
        if (headers['content-length'] !== undefined) expect(Number(headers['content-length'])).toBe(body.length);
        expect(headers['transfer-encoding'] !== undefined && headers['content-length'] !== undefined).toBe(false);
      }
    });

    test('headers named by Connection stay here', async () => {
      await send([
        head(
          'GET /infer/echo/a',
          'Connection: close, X-One, x-two',
          'X-One: 1',
          'X-Two: 2',
          'Accept-Language: de',
          'TE: trailers',
        ),
      ]);
      expect(backend.seen[0]?.headers).toMatchObject({ 'accept-language': 'de' });
      for (const name of ['x-one', 'x-two', 'te']) expect(backend.seen[0]?.headers[name]).toBeUndefined();
    });
  });

  test.each([
    ...['/infer/echo/../../admin/v1/projects', '/infer/echo/..%2f..%2fadmin', '/infer/echo/%2e%2e/x', '/infer/echo//x'],
    ...['/infer/echo/a%5c..%5cb', '/infer/echo/a/..;/b', '/infer//echo/x', '/%69nfer/echo/x'],
    ...[
      'http://evil.test/infer/echo/x',
      '//evil.test/infer/echo/x',
      '/infer/echo@evil.test/x',
      '/infer/%65cho/x',
      '/infer/',
    ],
  ])('%s leads nowhere', async (path) => {
    const answer = await send([head(`GET ${path}`, 'Connection: close')]);
    const status = Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0);
    // An absolute address names this gateway, whatever host it says.
    if (path.startsWith('http:')) expect(targets().every((target) => target === 'GET /x')).toBe(true);
    else expect([path, status >= 400 && status < 500, targets()]).toEqual([path, true, []]);
  });

  test.each(['TRACE', 'CONNECT', 'PROPFIND'])('%s is not passed on', async (method) => {
    await send([head(`${method} /infer/echo/x`, 'Connection: close')]);
    expect(targets()).toEqual([]);
  });

  test('an offer of HTTP/2 in the clear is ignored, and goes no further', async () => {
    const offer = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA'];
    const answer = await send([head('POST /infer/echo/x', ...offer, 'Content-Length: 2'), '{}'], 1500);
    expect([answer.slice(0, 12), targets()]).toEqual(['HTTP/1.1 200', ['POST /x']]);
    const { headers } = backend.seen[0] ?? {};
    expect([headers?.upgrade, headers?.['http2-settings']]).toEqual([undefined, undefined]);
    expect(headers?.connection ?? '').not.toMatch(/upgrade|http2/i);
  });

  test('a WebSocket is refused', async () => {
    const answer = await send([head('GET /infer/echo/x', 'Connection: Upgrade', 'Upgrade: websocket')], 1500);
    expect([answer.slice(0, 12), targets()]).toEqual(['HTTP/1.1 400', []]);
  });

  describe('a backend that misbehaves', () => {
    let name = '';
    beforeEach(async () => {
      name = `raw-${crypto.randomUUID().slice(0, 8)}`;
      await callAdmin(world.gateway, '/backends', { body: { name, url: rawUrl, retries: 0 } });
    });
    const call = () =>
      fetch(`${world.gateway.url}/infer/${name}/x`, { headers: { authorization: `Bearer ${apiKey}` } });
    const answer =
      (text: string, end = true) =>
      (socket: Socket) => {
        socket.write(text, 'latin1');
        if (end) socket.end();
      };

    test.each<[string, string]>([
      ['says nothing at all', ''],
      ['speaks no HTTP', 'hello\r\n\r\n'],
      ['has no such status', 'HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n'],
      ['has a status below all', 'HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n'],
    ])('one that %s is an error of the gateway', async (_name, text) => {
      speak = answer(text);
      const response = await call();
      expect([502, 503]).toContain(response.status);
      expect(((await response.json()) as { error: { type: string } }).error.type).toBe('api_error');
    });

    test('an answer shorter than it says is an error, and not kept', async () => {
      speak = answer('HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 200000\r\n\r\nshort');
      // It is an error where nothing was sent yet; afterwards the connection is all there is to break.
      const outcome = await call()
        .then(async (response) => [response.status, (await response.bytes()).byteLength > 5])
        .catch(() => 'broken');
      expect([[502, true], 'broken']).toContainEqual(outcome);
      speak = answer('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole');
      expect(await (await call()).text()).toBe('whole');
    });

    test('an answer that never ends is cut at its bound', async () => {
      speak = (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
        const chunk = `${(65_536).toString(16)}\r\n${'x'.repeat(65_536)}\r\n`;
        const timer = setInterval(() => socket.write(chunk), 1);
        socket.on('close', () => clearInterval(timer));
      };
      const response = await call();
      let bytes = 0;
      const outcome = await (async () => {
        for await (const chunk of response.body ?? []) bytes += chunk.byteLength;
      })().then(
        () => 'whole',
        () => 'broken',
      );
      expect([outcome, bytes <= 1_000_000]).toEqual(['broken', true]);
      const row = await logRow(world.gateway, response.headers.get('x-request-id') ?? '');
      expect(row).toMatchObject({ status: 'error' });
    });

    test('one that says it is larger than it may be is refused at once', async () => {
      speak = answer('HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\nx', false);
      expect((await call()).status).toBe(502);
    });

    test('header lines that it splits are none of ours', async () => {
      speak = answer('HTTP/1.1 200 OK\r\nX-A: b\r\nSet-Cookie: llm0=1\r\nX-Cache: HIT\r\nContent-Length: 2\r\n\r\nok');
      const response = await call();
      expect([response.headers.get('set-cookie'), response.headers.get('x-cache')]).toEqual([null, 'MISS']);
    });

    test('the books are even afterwards', async () => {
      expect(await settledLedger(world.gateway)).toMatchObject({ ok: true, open_holds: 0 });
    });
  });

  test('two gateways on one Redis share cached answers and purges', async () => {
    const second = await hostGateway({ env: world.env });
    try {
      let count = 0;
      backend.answer = () => new Response(`answer ${++count}`, { headers: { 'cache-control': 'max-age=60' } });
      const ask = async (gateway: GatewayProcess, method = 'GET') => {
        const response = await fetch(`${gateway.url}/infer/echo/shared`, {
          method,
          headers: { authorization: `Bearer ${apiKey}` },
        });
        return `${response.headers.get('x-cache')} ${await response.text()}`;
      };
      expect(await ask(world.gateway)).toBe('MISS answer 1');
      // The write is behind the answer by a turn.
      await waitUntil(() => count === 1);
      await Bun.sleep(100);
      expect(await ask(second)).toBe('HIT answer 1');
      expect(await ask(second, 'POST')).toBe('null answer 2');
      await Bun.sleep(100);
      expect(await ask(world.gateway)).toBe('MISS answer 3');
      const other = await createTestKey(world.gateway);
      apiKey = other.apiKey;
      expect(await ask(second)).toBe('MISS answer 4');
    } finally {
      await second.kill();
    }
  });
});
