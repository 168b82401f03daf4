import { afterAll, expect, test } from 'bun:test';
import { type GuardedPostRequest, postGuarded } from './post-guarded';

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  routes: {
    '/echo': async (request) =>
      Response.json({ body: await request.text(), host: request.headers.get('host'), id: request.headers.get('x-id') }),
    '/none': () => new Response(null, { status: 204 }),
    '/endless': () =>
      new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(100)) })),
    '/slow': () => Bun.sleep(5000).then(() => new Response('late')),
    '/round': () => new Response(null, { status: 302, headers: { location: '/echo' } }),
  },
});
afterAll(() => server.stop(true));

const post = (path: string, more: Partial<GuardedPostRequest> = {}, signal = AbortSignal.timeout(2000)) =>
  postGuarded(
    {
      url: `http://hook.test:${server.port}${path}`,
      headers: { 'x-id': '7' },
      body: 'hello',
      maxAnswerBytes: 1000,
      fetch,
      resolve: async () => ['127.0.0.1'],
      allowedHosts: new Set(['hook.test']),
      ...more,
    },
    signal,
  );

test('a body goes to the address that was checked, by the name of its host', async () => {
  const { status, body } = await post('/echo');
  expect(status).toBe(200);
  expect(JSON.parse(body)).toEqual({ body: 'hello', host: `hook.test:${server.port}`, id: '7' });
  expect(await post('/none')).toEqual({ status: 204, body: '' });
});

test('private addresses are refused with each post, and redirects are not followed', async () => {
  await expect(post('/echo', { allowedHosts: new Set() })).rejects.toThrow('not public');
  await expect(post('/echo', { url: 'http://169.254.169.254/' })).rejects.toThrow('not public');
  expect(await post('/round')).toMatchObject({ status: 302 });
});

test('answers and patience have an end', async () => {
  await expect(post('/endless')).rejects.toThrow('larger than 1000');
  await expect(post('/slow', {}, AbortSignal.timeout(50))).rejects.toBeDefined();
  await expect(post('/echo', { resolve: () => new Promise(() => {}) }, AbortSignal.timeout(50))).rejects.toBeDefined();
});
