import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
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
