import { describe, expect, test } from 'bun:test';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { callAdmin, createTestKey } from '@llm0/testing/stores/start-gateway';
import { settled } from './settled';
import { shareDashboard } from './share-dashboard';

const MOST_BYTES_A_MINUTE = 20_000;
/** No timer of these pages is quicker. */
const STEP_MS = 10_000;
/** A range goes on with the clock until what came in is there to be read for certain. */
const OPENING_MS = 130_000;
/** What the stream says to show that it lives: the clock of the page goes on, the gateway's does not. */
const HEARTBEATS_A_MINUTE = 4 * 16;
const dashboard = shareDashboard({
  timeoutMs: 20_000,
  fill: (gateway) => callAdmin(gateway, '/demo-data', { body: { days: 2, requests_a_day: 3000 } }),
});

/** Counts every byte between a browser and the gateway, whatever asks for it. */
function countingProxy(to: string) {
  const { hostname, port } = new URL(to);
  const counted = { bytes: 0 };
  const give = (to: Socket, bytes: Uint8Array | string) => {
    counted.bytes += bytes.length;
    to.write(bytes);
  };
  const server = createServer((browser) => {
    const gateway = connect(Number(port), hostname);
    for (const [from, to] of [
      [browser, gateway],
      [gateway, browser],
    ] as const) {
      from.on('data', (bytes) => give(to, bytes));
      from.on('close', () => to.destroy());
      from.on('error', () => to.destroy());
    }
  });
  const listening = Promise.withResolvers<string>();
  server.listen(0, '127.0.0.1', () => listening.resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  return { counted, url: listening.promise, stop: () => server.close() };
}

/** A page at a path through a proxy that counts, once it has all it asks for. */
async function openCounted(path: string) {
  const proxy = countingProxy(dashboard.gateway.url);
  const { page } = await dashboard.openApart();
  await page.clock.install();
  const streams = page.waitForResponse((answer) => answer.url().includes('/admin/v1/live'));
  await page.goto((await proxy.url) + path);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await streams;
  await settled(page);
  /** Lets minutes pass in which nothing happens. */
  const rest = async (ms: number) => {
    for (let passedMs = 0; passedMs < ms; passedMs += STEP_MS) {
      await page.clock.fastForward(STEP_MS);
      await settled(page);
    }
  };
  // What a page asks once more just after it was opened is of its opening.
  await rest(OPENING_MS);
  return { page, proxy, rest };
}

describe('an open page, while nothing happens', () => {
  // The clock of charts rests for a bucket: two to five minutes.
  test.each([
    ['/', 6],
    ['/?range=1h', 4],
    ['/requests', 6],
  ])(
    '%s takes at most 20 kB a minute, all in all, over %d of them',
    async (path, minutes) => {
      const { proxy, rest } = await openCounted(path);
      try {
        const opened = proxy.counted.bytes;
        expect(opened).toBeGreaterThan(100_000);
        await rest(minutes * 60_000);
        const aMinute = (proxy.counted.bytes - opened) / minutes + HEARTBEATS_A_MINUTE;
        expect(aMinute).toBeGreaterThan(HEARTBEATS_A_MINUTE);
        expect(aMinute).toBeLessThan(MOST_BYTES_A_MINUTE);
      } finally {
        proxy.stop();
      }
    },
    60_000,
  );

  test('and shows at once what comes in after minutes of rest', async () => {
    const { page, proxy, rest } = await openCounted('/?range=24h');
    try {
      await rest(90_000);
      const { apiKey } = await createTestKey(dashboard.gateway);
      const answer = await fetch(`${dashboard.gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] }),
      });
      await answer.text();
      const asked = await page.waitForRequest((request) => request.url().includes('/stats/spend'));
      const to = Date.parse(new URL(asked.url()).searchParams.get('to') ?? '');
      expect(to).toBeGreaterThanOrEqual(await page.evaluate(() => Date.now() - 1000));
    } finally {
      proxy.stop();
    }
  }, 60_000);
});
