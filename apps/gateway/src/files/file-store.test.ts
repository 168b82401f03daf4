import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FakeS3, startFakeS3 } from '@llm0/testing/fake-s3/start-fake-s3';
import { type FileStore, openFileStore } from './file-store';

async function* pieces(count: number, size: number): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < count; index++) yield new Uint8Array(size).fill(index);
}

let folder: string;
let s3: FakeS3;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llm0-files-'));
  s3 = startFakeS3();
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await s3.stop();
});

describe.each(['disk', 'bucket'] as const)('files on %s', (kind) => {
  let store: FileStore;
  beforeAll(() => {
    const bucket = { bucket: 'kept', prefix: 'files/', endpoint: s3.url, accessKeyId: 'id', secretAccessKey: 'secret' };
    store = openFileStore(kind === 'disk' ? { folder: join(folder, 'deep') } : bucket);
  });

  test('are read as they were written, whole and in part, and written over', async () => {
    const id = crypto.randomUUID();
    expect(await store.write(id, pieces(3, 1_000_000))).toBe(3_000_000);
    const whole = await new Response(store.read(id)).bytes();
    expect([whole.byteLength, whole[0], whole[1_500_000], whole[2_999_999]]).toEqual([3_000_000, 0, 1, 2]);
    const part = await new Response(store.read(id, { from: 999_999, to: 1_000_001 })).bytes();
    expect([...part]).toEqual([0, 1]);
    async function* text() {
      yield new Uint8Array(Buffer.from('short text'));
    }
    await store.write(id, text());
    expect(await store.readText(id, { from: 6, to: 10 })).toBe('text');
    await store.remove(id);
    await store.remove(id);
    expect(await new Response(store.read(id)).bytes().catch(() => 'gone')).toBe('gone');
  });

  test('that are written twice at once are whole all the time', async () => {
    const id = crypto.randomUUID();
    const begun = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    async function* held() {
      yield new Uint8Array(100).fill(1);
      begun.resolve();
      await gate.promise;
      yield new Uint8Array(100).fill(2);
    }
    const first = store.write(id, held());
    await begun.promise;
    await store.write(id, pieces(3, 1000));
    const read = async () => (await new Response(store.read(id)).bytes()).byteLength;
    expect(await read()).toBe(3000);
    gate.resolve();
    await first;
    expect(await read()).toBe(200);
    await store.remove(id);
    if (kind === 'disk') expect(await readdir(join(folder, 'deep'))).toEqual([]);
  });

  test('that break off are not there', async () => {
    const id = crypto.randomUUID();
    async function* broken() {
      yield new Uint8Array(100);
      throw new Error('cut off');
    }
    await expect(store.write(id, broken())).rejects.toThrow('cut off');
    expect(await new Response(store.read(id)).bytes().catch(() => 'gone')).toBe('gone');
    if (kind === 'disk' && existsSync(join(folder, 'deep'))) expect(await readdir(join(folder, 'deep'))).toEqual([]);
  });
});

test('parts that a killed process left are removed a day later', async () => {
  const own = await mkdtemp(join(folder, 'left-'));
  const [old, young] = ['a.b.part', 'c.d.part'];
  for (const name of [old, young]) await Bun.write(join(own, name), 'half');
  const dayAgo = new Date(Date.now() - 90_000_000);
  await utimes(join(own, old), dayAgo, dayAgo);
  const store = openFileStore({ folder: own });
  await store.write('file', pieces(1, 10));
  expect((await readdir(own)).sort()).toEqual([young, 'file']);
});
