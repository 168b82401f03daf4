import { afterAll, beforeAll, expect, test } from 'bun:test';
import { pulled } from '@llm0/providers/translation/form-body';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { startEnvironment, type TestEnvironment } from './environment';
import { watchGateway } from './watch-gateway';

const MIB = 1024 * 1024;
const FILE_BYTES = 20 * MIB;
const AT_ONCE = 100;
const PIECE = new Uint8Array(64 * 1024);
const BOUNDARY = 'measured';

/** Takes files without holding them, as slowly as a vendor may. */
let received = 0;
const vendor = Bun.serve({
  port: 0,
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  async fetch(request) {
    let bytes = 0;
    for await (const piece of request.body ?? []) bytes += piece.byteLength;
    received += bytes;
    return Response.json({ text: 'heard', usage: { type: 'duration', seconds: 1 } });
  },
});

let env: TestEnvironment;
let key: string;
beforeAll(async () => {
  env = await startEnvironment({ kind: 'embedded', env: { OPENAI_BASE_URL: `http://127.0.0.1:${vendor.port}/v1` } });
  const prices = { mode: 'transcription', minute_usd: 0.006 };
  await callAdmin(env.gateway, '/models?provider=openai&model=whisper-9', { method: 'PUT', body: prices });
  ({ apiKey: key } = await createTestKey(env.gateway, { key: { rate_limit_per_minute: 100_000 } }));
}, 60_000);
afterAll(async () => {
  await env.close();
  await vendor.stop(true);
});

const part = (name: string, more = '') =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;

/** A WAV file of silence between its fields, made while it is sent. */
function form(isModelFirst: boolean): ReadableStream<Uint8Array> {
  const model = `${part('model')}openai/whisper-9\r\n`;
  async function* pieces() {
    const header = Buffer.alloc(44);
    header.write('RIFF');
    header.write('WAVEfmt ', 8);
    header.writeUInt32LE(16, 16);
    for (const at of [20, 22, 32]) header.writeUInt16LE(1, at);
    header.writeUInt32LE(8000, 24);
    header.write('data', 36);
    yield Buffer.from(`${isModelFirst ? model : ''}${part('file', '; filename="a.wav"')}`);
    yield header;
    for (let sent = header.length; sent < FILE_BYTES; sent += PIECE.length) yield PIECE;
    yield Buffer.from(`\r\n${isModelFirst ? '' : model}--${BOUNDARY}--\r\n`);
  }
  return pulled(pieces());
}

async function transcribe(isModelFirst: boolean): Promise<number> {
  const response = await fetch(`${env.gateway.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    body: form(isModelFirst),
  });
  await response.arrayBuffer();
  return response.status;
}

/** The runtime reads some 1.5 MB of each body ahead, and again while one is written to disk. */
test.each([
  ['in front of', true, 400],
  ['behind', false, 700],
] as const)(
  'a hundred files of 20 MiB, their model %s them, are never held whole',
  async (_name, isModelFirst, mostMib) => {
    await transcribe(isModelFirst);
    received = 0;
    const statuses = new Set<number>();
    const { grewMib } = await watchGateway(env.gateway, async () => {
      const all = Array.from({ length: AT_ONCE }, () => transcribe(isModelFirst));
      for (const status of await Promise.all(all)) statuses.add(status);
    });
    expect([...statuses]).toEqual([200]);
    expect(received).toBeGreaterThan(AT_ONCE * FILE_BYTES);
    expect(grewMib).toBeLessThan(mostMib);
  },
  300_000,
);
