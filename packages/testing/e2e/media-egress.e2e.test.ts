import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createTestKey } from '../stores/start-gateway';
import { postChat, shareEnvironment, type TestEnvironment } from './environment';

const PIXEL = Buffer.from('iVBORw0KGgo=', 'base64');
const SETUP_MS = 60_000;

/** A server of the inside, which counts who came. */
function startInside() {
  const seen: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      seen.push(pathname);
      if (pathname === '/to') return Response.redirect(searchParams.get('url') ?? '', 302);
      const type = pathname === '/secrets' ? 'text/plain' : 'image/png';
      return new Response(PIXEL, { headers: { 'content-type': type } });
    },
  });
  return { seen, host: `127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

let world: TestEnvironment;
let apiKey: string;
const media = startInside();
const inside = startInside();
const closed = startInside();

beforeAll(async () => {
  await closed.stop();
  world = await shareEnvironment({
    kind: 'real',
    // Providers of the operator may be anywhere here; what callers name may not.
    env: { EGRESS_ALLOW: '127.0.0.0/8', MEDIA_EGRESS_ALLOW: `${media.host}, ${closed.host}` },
  });
  ({ apiKey } = await createTestKey(world.gateway));
}, SETUP_MS);
afterAll(async () => {
  await world.close();
  await Promise.all([media.stop(), inside.stop()]);
}, SETUP_MS);

async function ask(url: string) {
  const content = [
    { type: 'text', text: 'What is it?' },
    { type: 'image_url', image_url: { url } },
  ];
  const body = { model: 'gemini-2.5-flash', messages: [{ role: 'user', content }] };
  const answer = await postChat(world.gateway, apiKey, body);
  const { error } = (await answer.json()) as { error?: { message: string } };
  return { status: answer.status, message: (error?.message ?? '').replace(/"[^"]*"/, 'URL') };
}

test('media URLs reach only the private hosts of MEDIA_EGRESS_ALLOW, whatever EGRESS_ALLOW says', async () => {
  expect(await ask(`http://${media.host}/pixel.png`)).toEqual({ status: 200, message: '' });
  expect(JSON.stringify(world.upstream.requests.at(-1)?.body)).toContain(PIXEL.toString('base64'));
  const refused = await ask(`http://${inside.host}/pixel.png`);
  expect(refused).toMatchObject({ status: 400, message: expect.stringContaining('public address') });
  for (const url of [
    ...[`http://${inside.host}/missing`, `http://${closed.host}/pixel.png`, `http://${media.host}/secrets`],
    ...[`http://${media.host}/to?url=http://${inside.host}/pixel.png`, 'http://169.254.169.254/latest/meta-data/x.png'],
    'http://no-such-host.invalid/pixel.png',
  ]) {
    expect([url, await ask(url)]).toEqual([url, refused]);
  }
  expect(inside.seen).toEqual([]);
});
