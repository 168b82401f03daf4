import { gzipSync } from 'node:zlib';

const MIB = 1024 * 1024;
const BOMB_BYTES = 600 * MIB;
const HUGE_BYTES = 244 * MIB;
const encoder = new TextEncoder();

/** A chat stream's event that says `text`. */
const delta = (text: string) =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: text } }] })}\n\n`;

const SSE = { 'content-type': 'text/event-stream' };
const JSON_TYPE = { 'content-type': 'application/json' };

let packedBomb: Uint8Array | undefined;
const bomb = (): BodyInit => {
  packedBomb ??= gzipSync(Buffer.alloc(BOMB_BYTES, ' '), { level: 6 });
  return packedBomb as BodyInit;
};

/** Answers that never end well, by name. */
const HOSTILE = {
  /** Some 600 kB of gzip that become 600 MB. */
  bomb: () => new Response(bomb(), { headers: { ...JSON_TYPE, 'content-encoding': 'gzip' } }),
  'bomb-stream': () => new Response(bomb(), { headers: { ...SSE, 'content-encoding': 'gzip' } }),
  'unknown-encoding': () => new Response('{}', { headers: { ...JSON_TYPE, 'content-encoding': 'exi' } }),
  'broken-encoding': () => new Response('{}', { headers: { ...JSON_TYPE, 'content-encoding': 'gzip' } }),
  'huge-plain': () => new Response(repeated(' ', HUGE_BYTES), { headers: JSON_TYPE }),
  'huge-stream': () => new Response(repeated(delta('word '.repeat(40)), HUGE_BYTES), { headers: SSE }),
  'endless-line': () => new Response(repeated('data: xxxxxxxxxxxxxxxx', Number.POSITIVE_INFINITY), { headers: SSE }),
  comments: () => new Response(repeated(': nothing yet\n\n', Number.POSITIVE_INFINITY), { headers: SSE }),
  'empty-events': () => new Response(repeated('data:\n\n', Number.POSITIVE_INFINITY), { headers: SSE }),
  'empty-deltas': () => new Response(repeated(delta(''), Number.POSITIVE_INFINITY), { headers: SSE }),
  trickle: () => new Response(repeated(' ', Number.POSITIVE_INFINITY, 1), { headers: JSON_TYPE }),
  header: () => new Response('{}', { headers: { ...JSON_TYPE, 'x-long': 'a'.repeat(MIB) } }),
} as const satisfies Record<string, () => Response>;

export type HostileKind = keyof typeof HOSTILE;

export function hostileAnswer(kind: HostileKind): Response {
  return HOSTILE[kind]();
}

/** The same again and again, in chunks of some 64 kB (or of one piece every 20 ms), as fast as it is read. */
function repeated(
  piece: string,
  totalBytes: number,
  pieces = Math.ceil(65_536 / piece.length),
): ReadableStream<Uint8Array> {
  const chunk = encoder.encode(piece.repeat(pieces));
  let sent = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (sent >= totalBytes) return controller.close();
        if (pieces === 1) await Bun.sleep(20);
        // The sender shares a process with the test: it must get its turn.
        else await new Promise((resolve) => setImmediate(resolve));
        sent += chunk.byteLength;
        controller.enqueue(chunk);
      },
    },
    { highWaterMark: 0 },
  );
}
