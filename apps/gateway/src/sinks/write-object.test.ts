import { afterAll, beforeEach, expect, test } from 'bun:test';
import { readdir, rm } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { startFakeS3 } from '@llm0/testing/fake-s3/start-fake-s3';
import { temporaryFolder } from '@llm0/testing/stores/server-process';
import type { BucketSetting } from '../config/sinks';
import { createWriteObject } from './write-object';

const s3 = startFakeS3();
afterAll(async () => {
  await s3.stop();
  expect(await readdir(folder)).toEqual([]);
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  s3.away = false;
  s3.objects.clear();
});

const sink: BucketSetting = {
  ...{ kind: 's3', name: 's3://logs/gw', bucket: 'logs', prefix: 'gw/', everyMs: 1000, withBodies: false },
};
const folder = temporaryFolder('sinks');
const keys = { accessKeyId: 'a', secretAccessKey: 'b', sessionToken: undefined };
const write = createWriteObject({ endpoint: s3.url, region: 'eu-west-1', ...keys }, folder);
/** Hard to compress. */
const noise = (bytes: number) => crypto.getRandomValues(new Uint8Array(Math.min(bytes, 65536))).toHex();

test.each([
  ['a small object', ['one\n', 'two\n']],
  ['one of many parts', Array.from({ length: 200 }, (_, index) => `${index} ${noise(65536)}\n`)],
])('%s arrives whole', async (_, texts) => {
  await write(sink, {
    key: '2026-11-26/07/x.jsonl.gz',
    texts: (async function* () {
      yield* texts;
    })(),
  });
  const object = s3.objects.get('logs/gw/2026-11-26/07/x.jsonl.gz');
  expect(gunzipSync(object ?? '').toString()).toBe(texts.join(''));
});

test('of no rows, there is no object', async () => {
  await write(sink, { key: 'x', texts: (async function* () {})() });
  expect(s3.objects.size).toBe(0);
});

async function* goodRows(): AsyncGenerator<string> {
  yield 'one\n';
}
async function* brokenRows(): AsyncGenerator<string> {
  yield 'one\n';
  throw new Error('Postgres is away');
}

test.each([
  { why: 'the service is away', rows: goodRows, away: true },
  { why: 'the rows cannot be read', rows: brokenRows, away: false },
])(
  '$why: it throws, and there is no object',
  async ({ rows, away }) => {
    s3.away = away;
    expect(write(sink, { key: 'x', texts: rows() })).rejects.toThrow();
    await write(sink, { key: 'x', texts: rows() }).catch(() => {});
    expect(s3.objects.size).toBe(0);
  },
  30_000,
);
