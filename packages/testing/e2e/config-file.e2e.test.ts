import { afterAll, beforeAll, expect, test } from 'bun:test';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '../stores/server-process';
import type { GatewayProcess } from '../stores/start-gateway';
import { startOnServers, waitUntil } from './environment';
import { hangUpUntilReady } from './hang-up-until-ready';

const KEY = `llm0_live_${'0123456789abcdef'.repeat(4)}`;
const folder = temporaryFolder('config-file');
const path = join(folder, 'gateway.yaml');
let gateway: GatewayProcess;

const write = (project: string) =>
  Bun.write(
    path,
    `version: 1\nprojects:\n  - {name: shop, ${project}, keys: [{name: web, secret: {env: SHOP_KEY}}]}\n`,
  );

beforeAll(async () => {
  await write('monthly_cap_usd: 5');
  const env = { GATEWAY_CONFIG: path, SHOP_KEY: KEY, DEMO_PROVIDER: 'on', LOG_LEVEL: 'info' };
  gateway = await startOnServers(env, { apart: true });
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  await rm(folder, { recursive: true });
});

const ask = async () => {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  await response.arrayBuffer();
  return response.status;
};
const count = (words: string) => gateway.output().split(words).length - 1;

test('GATEWAY_CONFIG is in force at the start, SIGHUP reads it again, and an invalid file changes nothing', async () => {
  expect(await ask()).toBe(200);
  expect(count('GATEWAY_CONFIG is applied')).toBe(1);
  await write('colour: red');
  process.kill(gateway.pid, 'SIGHUP');
  await waitUntil(() => count('GATEWAY_CONFIG is not applied') === 1);
  expect(gateway.output()).toContain('gateway.yaml:3: projects.0.colour: there is no such field');
  expect(await ask()).toBe(200);
  await write('is_active: false');
  process.kill(gateway.pid, 'SIGHUP');
  await waitUntil(() => count('GATEWAY_CONFIG is applied') === 2);
  expect(await ask()).toBe(403);
  expect(gateway.output()).not.toContain(KEY);
});

test('SIGHUPs during the start end nothing', async () => {
  const hangUps = hangUpUntilReady();
  const env = { GATEWAY_CONFIG: path, SHOP_KEY: KEY, DEMO_PROVIDER: 'on', LOG_LEVEL: 'info' };
  const other = await startOnServers(env, { apart: true, onSpawn: hangUps.start });
  expect(hangUps.stop()).toBeGreaterThan(1);
  // By the start itself, and after it for what changed meanwhile.
  await waitUntil(() => other.output().split('GATEWAY_CONFIG is applied').length > 2);
  expect(await other.stop()).toBe(0);
}, 60_000);
