import { afterEach, beforeEach, expect, test } from 'bun:test';
import { type FileHandle, open } from 'node:fs/promises';
import { Held, Room } from '@llm0/core/async/room';
import type { UnderWay } from '../../services/contract';
import { readAudioForm } from './read-audio-form';
import { DiskPace, openUnnamed } from './unnamed-file';

const MIB = 1024 * 1024;
const BOUNDARY = 'a-boundary-of-some-length';
const HEAD_BYTES = 128 * 1024;
const FILE = Buffer.alloc(3 * MIB, 'sound');
const part = (name: string, more = '') =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;
const MODEL = `${part('model')}a-1\r\n`;

let held: Held;
beforeEach(() => {
  held = new Held(new Room());
});
afterEach(() => held.end());

/** What `readAudioForm` makes of it, in pieces as they come from a socket. */
function read(parts: readonly (string | Buffer)[], isDeclared = true, openFile = openUnnamed) {
  const form = Buffer.concat(parts.map((one) => Buffer.from(one as string)));
  const length: Record<string, string> = isDeclared ? { 'content-length': String(form.length) } : {};
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= form.length) return controller.close();
      // A copy: what is sent is freed.
      controller.enqueue(Uint8Array.from(form.subarray(at, at + 64 * 1024)));
      at += 64 * 1024;
    },
  });
  const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, ...length };
  const request = new Request('http://gateway.test/', { method: 'POST', headers, body });
  const services = { config: { maxBodyBytes: 20 * MIB } } as Parameters<typeof readAudioForm>[0];
  return readAudioForm(services, request, { held } as unknown as UnderWay, openFile);
}

const AROUND = [part('file', '; filename="a.wav"'), FILE, '\r\n'] as const;
const LATER = `${part('language')}en\r\n`;

test.each([
  ['of a declared length', true, HEAD_BYTES + 64 * 1024],
  ['of an unknown length', false, MIB],
])('a large file %s is sent on with its fields, and takes no more memory than its first bytes', async (...given) => {
  const [, isDeclared, most] = given;
  const { files, fields, close } = await read([MODEL, ...AROUND, LATER, `--${BOUNDARY}--\r\n`], isDeclared);
  const [[, file] = []] = files;
  expect([fields, held.bytes > HEAD_BYTES, held.bytes <= most]).toEqual([{ model: 'a-1' }, true, true]);
  const pieces = [...(file?.pieces ?? [])].map((one) => Buffer.from(one));
  let rest = 0;
  for await (const bytes of file?.rest?.open() ?? []) {
    rest += bytes.byteLength;
    pieces.push(Buffer.from(bytes));
  }
  expect(Buffer.concat(pieces).equals(FILE)).toBe(true);
  expect([file?.rest?.later(), held.bytes]).toEqual([[['language', 'en']], HEAD_BYTES]);
  const behind = `\r\n${LATER}--${BOUNDARY}--\r\n`.length;
  expect(file?.rest?.frame).toEqual(isDeclared ? { bytes: rest + behind, boundaryLength: BOUNDARY.length } : undefined);
  await close();
});

test('a large file in front of its model waits on disk, and can be sent twice', async () => {
  const { files, fields, close } = await read([...AROUND, MODEL, `--${BOUNDARY}--\r\n`]);
  const [[, file] = []] = files;
  expect([fields, held.bytes]).toEqual([{ model: 'a-1' }, HEAD_BYTES]);
  for (let time = 0; time < 2; time++) {
    const pieces = [...(file?.pieces ?? [])].map((one) => Buffer.from(one));
    for await (const bytes of file?.rest?.open() ?? []) pieces.push(Buffer.from(bytes));
    expect(Buffer.concat(pieces).equals(FILE)).toBe(true);
  }
  await close();
});

/** A file on a disk that is full after some pieces. */
async function openNearlyFull(): Promise<FileHandle> {
  const [file, full] = await Promise.all([openUnnamed(), open('/dev/full', 'r+')]);
  let asked = 0;
  return {
    get fd() {
      asked += 1;
      return asked > 5 ? full.fd : file.fd;
    },
    read: (...given: Parameters<FileHandle['read']>) => file.read(...given),
    close: () => Promise.all([file.close(), full.close()]),
  } as unknown as FileHandle;
}

const FAILING = () => Promise.reject(new Error('no disk'));

test.each([
  ['waits on disk', openUnnamed, HEAD_BYTES, true],
  ['goes on as it comes from where the disk is full', openNearlyFull, HEAD_BYTES + 64 * 1024, false],
  ['goes on as it comes without a disk', FAILING, HEAD_BYTES + 64 * 1024, false],
] as const)('a large file that arrives with many others %s', async (_name, openFile, most, canRepeat) => {
  const { TMPDIR } = process.env;
  // Tests keep their files in memory, where such a file would take as much of it.
  process.env.TMPDIR = '/var/tmp';
  const form = [MODEL, ...AROUND, LATER, `--${BOUNDARY}--\r\n`];
  const others = await Promise.all(Array.from({ length: 8 }, () => read(form)));
  const before = held.bytes;
  try {
    const { files, close } = await read(form, true, openFile);
    const [[, file] = []] = files;
    expect(held.bytes - before).toBeLessThanOrEqual(most);
    expect(file?.rest?.isSpent()).toBe(false);
    const pieces = [...(file?.pieces ?? [])].map((one) => Buffer.from(one));
    for await (const bytes of file?.rest?.open() ?? []) pieces.push(Buffer.from(bytes));
    expect(Buffer.concat(pieces).equals(FILE)).toBe(true);
    expect([file?.rest?.isCutOff(), file?.rest?.isSpent()]).toEqual([false, !canRepeat]);
    expect(held.bytes - before).toBe(HEAD_BYTES);
    await close();
  } finally {
    process.env.TMPDIR = TMPDIR;
    await Promise.all(others.map((other) => other.close()));
  }
});

test('after a slow write, others leave the event loop for a while', () => {
  let nowMs = 1000;
  const pace = new DiskPace(() => nowMs);
  const take = (ms: number) =>
    pace.time(() => {
      nowMs += ms;
    });
  take(50);
  expect(pace.isFast).toBe(true);
  take(51);
  expect(pace.isFast).toBe(false);
  nowMs += 10_000;
  expect(pace.isFast).toBe(true);
});
