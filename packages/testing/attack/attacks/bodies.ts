// Bodies and connections that never end, or lie about their length.
import type { Attack, AttackContext } from '../attack';
import { APIS, fill, MEGABYTE } from './ask-with';

const HALF_OPEN = 2_000;
const SLOW_BODIES = 200;
const HOLD_MS = 3_000;
const CHAT_HEAD = ({ key }: AttackContext, more: readonly string[]) =>
  ['POST /v1/chat/completions HTTP/1.1', 'host: x', `authorization: Bearer ${key.apiKey}`, ...more, '', ''].join(
    '\r\n',
  );

async function trickle(context: AttackContext, head: string, pieces: number): Promise<void> {
  const socket = await context.send.raw(head);
  for (let i = 0; i < pieces && !socket.destroyed; i++) {
    socket.write(' ');
    await Bun.sleep(HOLD_MS / pieces);
  }
}

const many = (count: number, play: (index: number) => Promise<unknown>) =>
  Promise.all(Array.from({ length: count }, (_, index) => play(index)));

/** Odd heads, each on a connection of its own. */
const ODD_HEADS: readonly string[] = [
  'GET / HTTP/1.1\r\n\r\n',
  'GET / HTTP/9.9\r\nhost: x\r\n\r\n',
  'GET  HTTP/1.1\r\nhost: x\r\n\r\n',
  'GET http://169.254.169.254/ HTTP/1.1\r\nhost: x\r\n\r\n',
  'GET //evil.test/%2e%2e/admin/v1/projects HTTP/1.1\r\nhost: x\r\n\r\n',
  'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n',
  'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999999999999\r\n\r\n',
  'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n',
  'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n-1\r\n',
  'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\n{}  ',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'CONNECT vendor.test:443 HTTP/1.1\r\nhost: x\r\n\r\n',
  'TRACE / HTTP/1.1\r\nhost: x\r\n\r\n',
  `${fill('A', 10_000)} / HTTP/1.1\r\nhost: x\r\n\r\n`,
  `GET /${fill('%00', 9_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
  `GET / HTTP/1.1\r\nhost: x\r\n${fill('a: b\r\n', 60_000)}\r\n`,
  'GET / HTTP/1.1\nhost: x\n\n',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  '\u0000\u0000\u0000\u0000',
];

export const BODIES: readonly Attack[] = [
  {
    name: 'two thousand half-open connections',
    isLong: true,
    play: async (context) => {
      await many(HALF_OPEN, () => context.send.raw('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthor'));
      await Bun.sleep(HOLD_MS);
    },
  },
  {
    name: 'bodies of a byte every few milliseconds',
    isLong: true,
    play: async (context) => {
      await many(SLOW_BODIES, () => trickle(context, CHAT_HEAD(context, ['content-length: 1000000']), 20));
    },
  },
  {
    name: 'bodies in chunks without an end',
    isLong: true,
    play: async (context) => {
      await many(SLOW_BODIES, async () => {
        const socket = await context.send.raw(CHAT_HEAD(context, ['transfer-encoding: chunked']));
        for (let i = 0; i < 10 && !socket.destroyed; i++) {
          socket.write(`1000\r\n${fill('[', 0x1000)}\r\n`);
          await Bun.sleep(HOLD_MS / 10);
        }
      });
    },
  },
  {
    name: 'half a body of 20 MB, thirty times',
    isLong: true,
    play: async (context) => {
      await many(30, async () => {
        const socket = await context.send.raw(CHAT_HEAD(context, ['content-length: 20000000']));
        socket.write('x'.repeat(3 * MEGABYTE));
      });
      await Bun.sleep(HOLD_MS);
    },
  },
  {
    name: 'a body of 200 MB in chunks',
    play: async ({ send }) => {
      let left = 200;
      const piece = new Uint8Array(MEGABYTE).fill(97);
      const body = new ReadableStream<Uint8Array>({
        start: (controller) =>
          controller.enqueue(Buffer.from('{"model":"gpt-4o-mini","messages":[{"role":"user","content":"')),
        pull: (controller) => (left-- > 0 ? controller.enqueue(piece) : controller.close()),
      });
      const { status } = await send(APIS.chat('x').path, { body });
      // 503 where others' bodies take all the room.
      return [413, 0, 429, 503].includes(status) ? undefined : `status ${status} instead of 413`;
    },
  },
  {
    name: 'a body of 30 MB of a known length',
    play: async ({ send }) => {
      const { status } = await send(APIS.chat('x').path, { body: ' '.repeat(30 * MEGABYTE) });
      return status === 413 ? undefined : `status ${status} instead of 413`;
    },
  },
  {
    name: 'bytes other than HTTP',
    play: async ({ send }) => {
      for (const head of ODD_HEADS) await send.raw(head);
      await Bun.sleep(500);
    },
  },
  {
    name: 'a thousand requests, each left at once',
    play: async ({ send }) => {
      const { path, body } = APIS.chat('x');
      await many(1_000, () => send(path, { body, leaveAfterMs: 5 }));
    },
  },
];
