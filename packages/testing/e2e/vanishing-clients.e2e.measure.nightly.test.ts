import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { createTestKey } from '../stores/start-gateway';
import {
  allLogs,
  ask,
  postChat,
  settledLedger,
  startEnvironment,
  type TestEnvironment,
  waitUntil,
} from './environment';

const SETUP_MS = 60_000;
const CLIENTS = 10_000;
const AT_ONCE = 100;

describe('clients that vanish in mid-stream', () => {
  let world: TestEnvironment;
  beforeAll(async () => {
    world = await startEnvironment({ kind: 'real', env: { SLOW_READER_TIMEOUT: '3s' } });
  }, SETUP_MS);
  afterAll(() => world.close(), SETUP_MS);

  test(`${CLIENTS} of them: upstream cancelled within a second, tokens so far booked, memory flat`, async () => {
    const { gateway, upstream } = world;
    const { apiKey, projectId } = await createTestKey(gateway, { project: { cache_enabled: false } });
    let started = 0;
    const vanish = async () => {
      while (started < CLIENTS) {
        const number = started++;
        const leave = new AbortController();
        const answer = await postChat(
          gateway,
          apiKey,
          ask(`gone ${number}`, { stream: true, x_fake: { chunks: 1000, gapMs: 20 } }),
          {
            signal: leave.signal,
          },
        );
        const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
        await reader.read();
        leave.abort();
        reader.cancel().catch(() => {});
      }
    };
    const memory: number[] = [];
    const watch = setInterval(() => memory.push(residentMib(gateway.pid)), 500);
    await Promise.all(Array.from({ length: AT_ONCE }, vanish));
    clearInterval(watch);
    await Bun.sleep(1000);
    expect(openConnections(upstream.port)).toBe(0);
    const ledger = await settledLedger(gateway);
    expect([ledger.ok, ledger.open_holds]).toEqual([true, 0]);
    const rows = await allLogs(gateway, `project_id=${projectId}`);
    expect(rows).toHaveLength(CLIENTS);
    expect(rows.filter((row) => row.status !== 'aborted')).toEqual([]);
    expect(rows.filter((row) => !(row.cost_usd > 0 && row.cost_estimated && row.tokens_out > 0))).toEqual([]);
    const quarter = memory.slice(Math.floor(memory.length / 4), Math.floor(memory.length / 2));
    const last = memory.slice(-quarter.length);
    expect(Math.max(...last)).toBeLessThan(Math.max(...quarter) * 1.25 + 20);
  }, 240_000);

  test('clients that vanish while held back by big chunks let go of their upstreams too', async () => {
    const { gateway, upstream } = world;
    const { apiKey, projectId } = await createTestKey(gateway, { project: { cache_enabled: false } });
    upstream.control.setModel('big-chunks', { text: 'x'.repeat(64_000).repeat(30), chunks: 2000, gapMs: 1 });
    const count = 50;
    const sockets = await Promise.all(
      Array.from({ length: count }, (_, number) =>
        connectRaw(gateway.url, apiKey, ask(`slow reader ${number}`, { stream: true, model: 'openai/big-chunks' })),
      ),
    );
    await waitUntil(() => openConnections(upstream.port) === count);
    await Bun.sleep(500);
    for (const socket of sockets) socket.terminate();
    await waitUntil(() => openConnections(upstream.port) === 0, 1500);
    const ledger = await settledLedger(gateway);
    expect([ledger.ok, ledger.open_holds]).toEqual([true, 0]);
    const rows = await allLogs(gateway, `project_id=${projectId}`);
    expect(rows.map((row) => row.status)).toEqual(Array.from({ length: count }, () => 'aborted'));
  }, 60_000);

  test('a client that takes nothing is cut and books as gone; many of one key fill no memory meanwhile', async () => {
    const { gateway, upstream } = world;
    const { apiKey, projectId } = await createTestKey(gateway, { project: { cache_enabled: false } });
    upstream.control.setModel('flood', { text: 'x'.repeat(7_700_000), chunks: 500 });
    const one = await connectRaw(gateway.url, apiKey, ask('slow', { stream: true, model: 'openai/flood' }));
    const statuses = async (count: number) => {
      const endMs = performance.now() + 60_000;
      for (;;) {
        const rows = await allLogs(gateway, `project_id=${projectId}`);
        if (rows.length >= count || performance.now() > endMs) return rows.map(({ status }) => status);
        await Bun.sleep(100);
      }
    };
    expect(await statuses(1)).toEqual(['aborted']);
    one.terminate();
    const beforeMib = residentMib(gateway.pid);
    let mostMib = 0;
    const watch = setInterval(() => {
      mostMib = Math.max(mostMib, residentMib(gateway.pid));
    }, 50);
    const count = 100;
    const slow = Array.from({ length: count }, (_, number) =>
      connectRaw(gateway.url, apiKey, ask(`slow ${number}`, { stream: true, model: 'openai/flood' })),
    );
    const sockets = await Promise.all(slow);
    const ended = await statuses(count + 1);
    clearInterval(watch);
    for (const socket of sockets) socket.terminate();
    expect(ended).toHaveLength(count + 1);
    expect(new Set(ended)).toEqual(new Set(['aborted', 'error']));
    expect(mostMib - beforeMib).toBeLessThan(200);
    expect(await settledLedger(gateway)).toMatchObject({ ok: true, open_holds: 0 });
  }, 120_000);
});

/** A client that sends its request and then never reads a byte. */
async function connectRaw(url: string, apiKey: string, request: unknown) {
  const body = JSON.stringify(request);
  const { hostname, port } = new URL(url);
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: { data: (own) => void own.pause(), open: () => {} },
  });
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${apiKey}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  return socket;
}

function residentMib(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
}

const ESTABLISHED = '01';

/** Connections that are open to a port of this machine, as the kernel counts them: a vendor may notice later. */
function openConnections(port: number): number {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[2]?.endsWith(wanted) && fields[3] === ESTABLISHED).length;
}
