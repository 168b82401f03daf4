import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createTestKey, type GatewayProcess, startGateway } from '../stores/start-gateway';
import { startOnServers } from './environment';

const PAGE = 'https://app.example.com';
const WANTED = {
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization,x-llm0-team',
};

let gateway: GatewayProcess;
let apiKey: string;
beforeAll(async () => {
  gateway = await startOnServers({
    ...{ CORS_ORIGINS: `${PAGE}, app://obsidian.md`, OPENAI_API_KEY: 'sk', DEMO_PROVIDER: 'on' },
  });
  ({ apiKey } = await createTestKey(gateway, { key: { rate_limit_per_minute: 1000 } }));
}, 60_000);
afterAll(() => gateway.stop());

const preflight = (path: string, origin: string, url = gateway.url) =>
  fetch(url + path, { method: 'OPTIONS', headers: { origin, ...WANTED } });

const ask = (headers: Record<string, string>, stream = false) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'demo-chat', stream, messages: [{ role: 'user', content: 'Hello' }] }),
  });

describe('CORS_ORIGINS', () => {
  test.each([PAGE, 'app://obsidian.md'])('a page of %s may ask, with any header', async (origin) => {
    for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/models', '/passthrough/openai/v1/files']) {
      const response = await preflight(path, origin);
      expect(response.status).toBe(204);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'authorization,x-llm0-team',
        vary: 'Origin',
      });
    }
  });

  test.each([false, true])('an answer shows the page its headers (stream: %p)', async (stream) => {
    const response = await ask({ origin: PAGE, authorization: `Bearer ${apiKey}` }, stream);
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBe(PAGE);
    const exposed = (response.headers.get('access-control-expose-headers') ?? '').split(', ');
    expect(exposed).toEqual(expect.arrayContaining(['x-request-id', 'x-provider', 'x-cache-hit', 'x-ratelimit-limit']));
    await response.text();
  });

  test('a refusal can be read by the page as well', async () => {
    const response = await ask({ origin: PAGE });
    expect(response.status).toBe(401);
    expect(response.headers.get('access-control-allow-origin')).toBe(PAGE);
  });

  test('other pages are told nothing, and no page gets the admin API', async () => {
    const other = await ask({ origin: 'https://evil.example', authorization: `Bearer ${apiKey}` });
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
    expect(other.headers.get('vary')).toBe('Origin');
    const refused = await preflight('/v1/chat/completions', 'https://evil.example');
    expect(refused.headers.get('access-control-allow-origin')).toBeNull();
    for (const path of ['/admin/v1/projects', '/admin/v1/session', '/metrics', '/healthz', '/']) {
      const response = await preflight(path, PAGE);
      expect(response.headers.get('access-control-allow-origin')).toBeNull();
      const read = await fetch(gateway.url + path, { headers: { origin: PAGE } });
      expect(read.headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  test('* lets every page in; without the setting none', async () => {
    const [all, none] = await Promise.all([startOnServers({ CORS_ORIGINS: '*' }), startOnServers()]);
    try {
      const open = await preflight('/v1/chat/completions', 'https://anything.example', all.url);
      expect(open.headers.get('access-control-allow-origin')).toBe('*');
      const admin = await preflight('/admin/v1/projects', 'https://anything.example', all.url);
      expect(admin.headers.get('access-control-allow-origin')).toBeNull();
      const closed = await preflight('/v1/chat/completions', PAGE, none.url);
      expect(closed.status).toBe(405);
      expect(closed.headers.get('access-control-allow-origin')).toBeNull();
    } finally {
      await Promise.all([all.stop(), none.stop()]);
    }
  }, 60_000);

  test('an invalid origin stops the start', async () => {
    const failed = startGateway({ env: { CORS_ORIGINS: 'app.example.com/path' } });
    await expect(failed).rejects.toThrow('CORS_ORIGINS=app.example.com/path: origins such as');
  });
});

describe('clients of vendors', () => {
  test.each(['api-key', 'x-api-key', 'x-goog-api-key'])('a key is taken from %s', async (header) => {
    const response = await ask({ [header]: apiKey });
    expect(response.status).toBe(200);
    expect((await ask({ [header]: `${apiKey.slice(0, -1)}x` })).status).toBe(401);
  });

  test.each([
    ['GET', '/v1/vector_stores', 'openai'],
    ['GET', '/v1/skills', 'anthropic'],
    ['POST', '/v1beta/cachedContents', 'gemini'],
  ])('%s %s is told where the vendor has it', async (method, path, vendor) => {
    const response = await fetch(gateway.url + path, { method, headers: { authorization: `Bearer ${apiKey}` } });
    expect(response.status).toBe(404);
    // In the vendor's own envelope, as its clients read it.
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error.message).toContain(`/passthrough/${vendor}${path}`);
  });

  test('a path that nobody has is plainly not there', async () => {
    const response = await fetch(`${gateway.url}/v1/nonsense`, { method: 'POST' });
    expect(response.status).toBe(404);
    expect(await response.text()).not.toContain('passthrough');
  });
});
