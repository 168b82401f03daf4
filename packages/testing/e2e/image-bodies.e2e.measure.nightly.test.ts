import { afterAll, beforeAll, expect, test } from 'bun:test';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fakePicture } from '../fake-upstream/render-tasks';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { settledLedger, startEnvironment, type TestEnvironment } from './environment';
import { watchedLoop, watchGateway, worstBlockMs } from './watch-gateway';

const MB = 1_000_000;
const UPLOADS = 100;
/** One upload, and what the runtime reads ahead of all others. */
const MOST_GROWN_MIB = 220;
/** See large-bodies. */
const MOST_MS = 40;
const PICTURE = Buffer.concat([Buffer.from(fakePicture('p'), 'base64'), new Uint8Array(19 * MB)]);
const loopFile = join(tmpdir(), `llm0-loop-${crypto.randomUUID()}`);
let env: TestEnvironment;
let apiKey: string;

beforeAll(async () => {
  env = await startEnvironment({ kind: 'real', env: watchedLoop(loopFile) });
  const body = { mode: 'image', image_usd: 0.01 };
  await callAdmin(env.gateway, '/models?provider=openai&model=painter', { method: 'PUT', body });
  ({ apiKey } = await createTestKey(env.gateway));
}, 60_000);
afterAll(async () => {
  await env.close();
  await Bun.file(loopFile)
    .unlink()
    .catch(() => {});
});

async function edit(): Promise<number> {
  const form = new FormData();
  form.append('model', 'openai/painter');
  form.append('prompt', 'p');
  form.append('image', new Blob([PICTURE], { type: 'image/png' }), 'p.png');
  const headers = { authorization: `Bearer ${apiKey}` };
  const response = await fetch(`${env.gateway.url}/v1/images/edits`, { method: 'POST', headers, body: form });
  await response.text();
  return response.status;
}

test('a large picture blocks nobody', async () => {
  await edit();
  const sinceMs = Date.now();
  expect(await edit()).toBe(200);
  await Bun.sleep(20);
  expect(await worstBlockMs(env.gateway, loopFile, sinceMs)).toBeLessThan(MOST_MS);
}, 60_000);

test(`${UPLOADS} large pictures at once take no more memory than some, and what is refused costs nothing`, async () => {
  let statuses: number[] = [];
  const { grewMib } = await watchGateway(env.gateway, async () => {
    statuses = await Promise.all(Array.from({ length: UPLOADS }, edit));
  });
  // Without room for long enough, a request is refused.
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(10);
  expect(grewMib).toBeLessThan(MOST_GROWN_MIB);
  const ledger = await settledLedger(env.gateway);
  const spent = ledger.projects.reduce((sum, { logs_usd }) => sum + logs_usd, 0);
  const served = statuses.filter((status) => status === 200).length + 2;
  expect([ledger.ok, Math.round(spent * 100)]).toEqual([true, served]);
}, 120_000);
