import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type FakeRealtime, startFakeRealtime } from '../fake-upstream/start-fake-realtime';
import { createTestKey } from '../stores/start-gateway';
import { allLogs, settledLedger, startEnvironment, type TestEnvironment, waitUntil } from './environment';
import { SessionClient } from './realtime-client';
import { memoryMib } from './watch-gateway';

const SETUP_MS = 60_000;
const SESSIONS = 500;
const AT_ONCE = 25;
/** Characters that a side which reads nothing is sent. */
const FLOOD = { frames: 1500, length: 64_000 };

describe('crowds of sessions', () => {
  let world: TestEnvironment;
  let fake: FakeRealtime;
  beforeAll(async () => {
    fake = startFakeRealtime();
    world = await startEnvironment({ kind: 'real', env: { OPENAI_BASE_URL: `${fake.url}/v1` } });
  }, SETUP_MS);
  afterAll(async () => {
    await world.close();
    await fake.stop();
  }, SETUP_MS);

  const open = (apiKey: string) =>
    SessionClient.open(`${world.gateway.url}/v1/realtime?model=gpt-realtime-2`, { authorization: `Bearer ${apiKey}` });
  const crowd = async (apiKey: string) => {
    const clients: SessionClient[] = [];
    while (clients.length < SESSIONS) {
      clients.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => open(apiKey)))));
    }
    return clients;
  };

  test(`${SESSIONS} of them: half of the callers vanish, the vendor drops the rest, and everything is booked`, async () => {
    const { gateway } = world;
    const memory: number[] = [];
    // A leak grows with each crowd; a heap may take some of them until it stays.
    const grew = () => (memory.at(-1) ?? 0) - (memory.at(-3) ?? 0);
    while (memory.length < 3 || (grew() >= 25 && memory.length < 7)) {
      fake.reset();
      Object.assign(fake.behaviour, { deltas: 1000, gapMs: 50 });
      const { apiKey, projectId } = await createTestKey(gateway);
      const clients = await crowd(apiKey);
      for (const client of clients) client.send({ type: 'response.create' });
      await Promise.all(clients.map((client) => client.next('response.output_audio.delta')));
      for (const client of clients.slice(0, SESSIONS / 2)) client.leave();
      await waitUntil(() => fake.sessions.filter(({ isClosed }) => isClosed).length === SESSIONS / 2, 3000);
      fake.drop();
      await Promise.all(clients.map(({ ended }) => ended));
      expect(await settledLedger(gateway)).toMatchObject({ ok: true, open_holds: 0 });
      const rows = await allLogs(gateway, `project_id=${projectId}`);
      expect(rows).toHaveLength(2 * SESSIONS);
      const turns = rows.filter(({ cost_usd }) => cost_usd > 0);
      expect(turns).toHaveLength(SESSIONS);
      expect(turns.every((row) => row.cost_estimated && row.tokens_out > 0)).toBe(true);
      expect(turns.filter(({ status }) => status === 'aborted')).toHaveLength(SESSIONS / 2);
      expect(turns.filter(({ status }) => status === 'error')).toHaveLength(SESSIONS / 2);
      // Time-outs of the connections that were dropped.
      await Bun.sleep(2000);
      memory.push(await memoryMib(gateway));
    }
    expect(grew()).toBeLessThan(25);
  }, 300_000);

  test(`${SESSIONS} sessions of a key end within a second of its end`, async () => {
    const { gateway } = world;
    fake.reset();
    const { apiKey, projectId, keyId } = await createTestKey(gateway);
    const clients = await crowd(apiKey);
    const response = await fetch(`${gateway.url}/admin/v1/projects/${projectId}/keys/${keyId}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${gateway.adminToken}` },
    });
    expect(response.status).toBe(204);
    const sinceMs = performance.now();
    const ends = await Promise.all(clients.map(({ ended }) => ended));
    expect(ends.every(({ code }) => code === 1008)).toBe(true);
    expect(Math.max(...ends.map(({ atMs }) => atMs)) - sinceMs).toBeLessThan(1000);
    expect(await settledLedger(gateway)).toMatchObject({ ok: true, open_holds: 0 });
  }, 120_000);

  test('a caller, and a vendor, that reads nothing fills no memory', async () => {
    const { gateway } = world;
    fake.reset();
    Object.assign(fake.behaviour, { deltas: FLOOD.frames, deltaLength: FLOOD.length });
    const { apiKey } = await createTestKey(gateway);
    const slow = await open(apiKey);
    await slow.next('session.created');
    let mostMib = 0;
    const beforeMib = await memoryMib(gateway);
    const look = async () => {
      mostMib = Math.max(mostMib, await memoryMib(gateway));
    };
    const watch = setInterval(look, 50);
    slow.socket.pause();
    slow.send({ type: 'response.create' });
    const other = await open(apiKey);
    await other.next('session.created');
    fake.sessions[1]?.socket.pause();
    const frame = { type: 'input_audio_buffer.append', audio: 'A'.repeat(FLOOD.length) };
    for (let i = 0; i < FLOOD.frames; i++) other.send(frame);
    await Bun.sleep(3000);
    clearInterval(watch);
    expect(mostMib - beforeMib).toBeLessThan(40);
    slow.socket.resume();
    fake.sessions[1]?.socket.resume();
    await slow.next('response.done');
    expect(slow.count('response.output_audio.delta')).toBe(FLOOD.frames);
    await waitUntil(() => fake.sessions[1]?.received.length === FLOOD.frames, 30_000);
    for (const client of [slow, other]) client.leave();
    expect(await settledLedger(gateway)).toMatchObject({ ok: true, open_holds: 0 });
  }, 120_000);
});
