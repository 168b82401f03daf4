import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { connectDatabase, type Database } from '@llm0/drizzle/client';
import { insertLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { RUNTIME_ENVIRONMENT } from '../../../apps/gateway/bin/runtime-environment';
import { sampleRecord } from '../stores/sample-record';
import { callAdmin, createTestKey, type GatewayProcess, startGateway } from '../stores/start-gateway';
import { allLogs, ask, postChat, STORE_KINDS, shareEnvironment, type TestEnvironment, waitUntil } from './environment';
import { LiveReader } from './read-live';

const SETUP_MS = 60_000;
const TEST_MS = 60_000;
/** What a stream may take to say or to notice something, on a busy machine too. */
const SOON_MS = 20_000;

describe.each(STORE_KINDS)('the live stream on %s stores', (kind) => {
  let world: TestEnvironment;
  let beside: GatewayProcess | undefined;
  beforeAll(async () => {
    // As operators run it: its memory is looked at.
    world = await shareEnvironment({ kind, apart: true, env: RUNTIME_ENVIRONMENT });
    if (kind === 'real') beside = await startGateway({ env: world.env });
  }, SETUP_MS);
  afterAll(async () => {
    await beside?.stop();
    await world.close();
  }, SETUP_MS);

  test(
    'resumes by its cursor, now at one process, now at another, over kills: no row lost, none told twice',
    async () => {
      const { apiKey, projectId } = await createTestKey(world.gateway);
      const reader = new LiveReader({ query: `topics=logs&project_id=${projectId}` });
      const places = () => [world.gateway, beside ?? world.gateway];
      let isOver = false;
      const reading = (async () => {
        for (let turn = 0; !isOver; turn++) {
          await reader.read(places()[turn % 2] as GatewayProcess);
          await Bun.sleep(20);
        }
      })();
      await waitUntil(() => reader.events.length > 0, SOON_MS);
      const answered = new Set<string>();
      const send = async (number: number) => {
        const at = places()[number % 2] as GatewayProcess;
        const answer = await postChat(at, apiKey, ask(`question ${number}`)).catch(() => undefined);
        if (answer?.status === 200 && (await answer.text().catch(() => '')).endsWith('}'))
          answered.add(answer.headers.get('x-request-id') ?? '');
      };
      for (let round = 0; round < 3; round++) {
        await Promise.all(Array.from({ length: 15 }, (_, i) => send(round * 15 + i)));
        await waitUntil(() => reader.rows.length > round * 10, SOON_MS);
        if (round === 1) await world.restart('kill');
        else if (round === 2) await world.restart('stop');
        else reader.stop();
      }
      const missing = () => [...answered].filter((id) => !reader.rows.includes(id));
      await waitUntil(() => missing().length === 0, SOON_MS);
      isOver = true;
      reader.stop();
      await reading;
      expect(answered.size).toBeGreaterThan(25);
      const rows = await allLogs(world.gateway, `project_id=${projectId}`);
      expect(reader.rows.toSorted()).toEqual(rows.map((row) => row.request_id).toSorted());
      expect(new Set(reader.events)).toEqual(new Set(['hello', 'logs', ...reader.events.filter((e) => e === 'end')]));
    },
    TEST_MS,
  );

  if (kind !== 'real') return;

  describe('with many and slow readers', () => {
    let database: Database;
    let projectId: string;
    beforeAll(() => {
      database = connectDatabase({ url: world.env.DATABASE_URL ?? '' });
    });
    beforeEach(async () => {
      ({ projectId } = await createTestKey(world.gateway));
    });
    afterAll(() => database.close());

    const ROWS = 20;
    const EVENT_BYTES = 3_000_000;
    /** Rows so large that an event of them is megabytes: the kernel's buffers of a connection take some. */
    const flood = async (): Promise<string[]> => {
      const message = 'x'.repeat(150_000);
      const given = { projectId, status: 'error' as const, httpStatus: 502, errorCode: 'upstream_error' };
      const records = Array.from({ length: ROWS }, () => sampleRecord({ ...given, errorMessage: message }));
      await insertLogRecords(database.db, records);
      return records.map(({ id }) => id);
    };
    const tokens = (count: number, settings: object = {}) =>
      Promise.all(
        Array.from({ length: count }, async () => {
          const body = { name: `reads ${crypto.randomUUID()}`, role: 'viewer', ...settings };
          return callAdmin<{ id: string; token: string }>(world.gateway, '/tokens', { body });
        }),
      );

    test(
      'readers that stop reading are cut off, cost little memory, and come back for what they missed',
      async () => {
        const { gateway } = world;
        const [token] = (await tokens(1)).map(({ token }) => token);
        const query = `topics=logs&project_id=${projectId}`;
        const slow = await Promise.all(Array.from({ length: 8 }, () => stalledReader(gateway, token ?? '', query)));
        await waitUntil(() => slow.every(({ seen }) => seen().includes('event: hello')), SOON_MS);
        for (const { stall } of slow) stall();
        const before = residentMib(gateway.pid);
        const written: string[] = [];
        const watching = new LiveReader({ query });
        const watched = watching.read(gateway);
        let most = before;
        for (let event = 0; event < 8; event++) {
          const told = watching.events.filter((name) => name === 'logs').length;
          written.push(...(await flood()));
          await waitUntil(() => watching.events.filter((name) => name === 'logs').length > told, SOON_MS);
          most = Math.max(most, residentMib(gateway.pid));
        }
        watching.stop();
        await watched;
        // Eight readers, eight events of three megabytes each: nearly 200 MB are not kept for them.
        expect(most - before).toBeLessThan(250);
        // They were cut off: their places are there for others.
        const again = await Promise.all(Array.from({ length: 8 }, () => openStream(gateway, token ?? '')));
        expect(again.map(({ status }) => status)).toEqual(Array(8).fill(200));
        for (const { close } of again) await close();
        for (const { resume, closed } of slow.slice(0, 2)) {
          resume();
          const read = await Promise.race([closed, Bun.sleep(SOON_MS).then(() => null)]);
          // What was under way when it was cut off, and no more than that.
          expect(read?.length).toBeLessThan(EVENT_BYTES * 6);
          const reader = new LiveReader({ query });
          for (const block of (read ?? '').split('\n\n')) reader.take(block);
          const reading = reader.read(gateway);
          await waitUntil(() => reader.rows.length >= written.length, SOON_MS);
          reader.stop();
          await reading;
          expect(reader.rows.toSorted()).toEqual(written.toSorted());
        }
        for (const { terminate } of slow) terminate();
      },
      TEST_MS,
    );

    test(
      'the 201st is told so; who goes away makes room, held back or not',
      async () => {
        const { gateway } = world;
        const many = (await tokens(26)).map(({ token }) => token);
        const query = `topics=logs&project_id=${projectId}`;
        const [first = '', ...others] = many;
        const open: Awaited<ReturnType<typeof openStream>>[] = [];
        // One after the other: tokens nobody has used yet are guesses until they are known to be right.
        for (const token of others.slice(0, 24))
          for (let i = 0; i < 8; i++) open.push(await openStream(gateway, token));
        const held = await Promise.all(Array.from({ length: 8 }, () => stalledReader(gateway, first, query)));
        await waitUntil(() => held.every(({ seen }) => seen().includes('event: hello')), SOON_MS);
        expect(open.filter(({ status }) => status === 200)).toHaveLength(192);
        const last = others[24] ?? '';
        const refused = await fetch(`${gateway.url}/admin/v1/live?topics=status`, {
          headers: { authorization: `Bearer ${last}` },
        });
        expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
        expect(await refused.text()).toContain('200 live streams');
        for (const { stall } of held) stall();
        await flood();
        for (const { terminate } of held) terminate();
        for (const { close } of open.slice(0, 2)) await close();
        const free = async () => {
          const one = await openStream(gateway, last);
          await one.close();
          return one.status === 200;
        };
        const endMs = performance.now() + SOON_MS;
        while (!(await free()) && performance.now() < endMs) await Bun.sleep(50);
        const now = await Promise.all(Array.from({ length: 8 }, () => openStream(gateway, last)));
        expect(now.map(({ status }) => status)).toEqual(Array(8).fill(200));
        for (const { close } of [...open, ...now]) await close();
      },
      TEST_MS,
    );

    test(
      'ends soon after a sign-out, an expired session, a revoked token, lost rights: whichever process serves it',
      async () => {
        const { gateway } = world;
        const [revoked, changed] = await tokens(2, { can_read_bodies: true });
        const sessions = await Promise.all([1, 2].map(() => signIn(gateway)));
        const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
        const readers = [bearer(revoked?.token ?? ''), bearer(changed?.token ?? ''), ...sessions].map(
          (headers) => new LiveReader({ query: 'topics=status', headers }),
        );
        const ended = readers.map((reader) => reader.read(beside as GatewayProcess));
        await waitUntil(() => readers.every(({ events }) => events.includes('hello')), SOON_MS);
        const startMs = performance.now();
        await callAdmin(gateway, `/tokens/${revoked?.id}`, { method: 'DELETE' });
        await database.client`update admin_tokens set can_read_bodies = false where id = ${changed?.id ?? ''}`;
        await fetch(`${gateway.url}/admin/v1/session`, { method: 'DELETE', headers: sessions[0] });
        await database.client`update admin_sessions set expires_at = now() - interval '1 second'`;
        await Promise.all(ended);
        expect(performance.now() - startMs).toBeLessThan(SOON_MS);
        expect(readers.map(({ events }) => events.at(-1))).toEqual(Array(4).fill('end'));
      },
      TEST_MS,
    );
  });
});

async function signIn({ url, adminToken }: GatewayProcess): Promise<Record<string, string>> {
  const answer = await fetch(`${url}/admin/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ token: adminToken }),
  });
  const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  return { cookie, 'sec-fetch-site': 'same-origin' };
}

/** A stream that was begun, and is read by nobody in particular. */
async function openStream(gateway: GatewayProcess, token: string) {
  const leave = new AbortController();
  const answer = await fetch(`${gateway.url}/admin/v1/live?topics=status`, {
    headers: { authorization: `Bearer ${token}` },
    signal: leave.signal,
  });
  const close = async () => {
    leave.abort();
    await answer.body?.cancel().catch(() => {});
  };
  return { status: answer.status, close };
}

/** A client on a socket of its own that can leave off reading. */
async function stalledReader({ url }: GatewayProcess, token: string, query: string) {
  const { hostname, port } = new URL(url);
  const done = Promise.withResolvers<string>();
  let text = '';
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open: () => {},
      data: (_, bytes) => {
        text += bytes.toString('utf8');
      },
      close: () => done.resolve(dechunk(text)),
      error: () => done.resolve(dechunk(text)),
    },
  });
  socket.write(
    `GET /admin/v1/live?${query} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`,
  );
  return {
    seen: () => text,
    closed: done.promise,
    stall: () => void socket.pause(),
    resume: () => void socket.resume(),
    terminate: () => socket.terminate(),
  };
}

/** The body of a chunked answer, as far as it came. */
function dechunk(text: string): string {
  let body = '';
  for (let at = text.indexOf('\r\n\r\n') + 4; at < text.length; ) {
    const end = text.indexOf('\r\n', at);
    const length = Number.parseInt(text.slice(at, end), 16);
    if (!(length > 0)) break;
    body += text.slice(end + 2, end + 2 + length);
    at = end + 2 + length + 2;
  }
  return body;
}

function residentMib(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
}
