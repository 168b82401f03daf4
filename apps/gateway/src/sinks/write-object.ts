import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { S3Client } from 'bun';
import type { BucketSetting, SinkSettings } from '../config/sinks';
import { fetchAwsIdentity } from '../secrets/fetch-aws';
import type { Part } from './part';

const compress = promisify(gzip);

/** Writes an object for each part, compressed, by a file in `folder`. Without keys of the environment, as the machine's role. */
export function createWriteObject(
  s3: SinkSettings['s3'],
  folder: string,
): (sink: BucketSetting, part: Part) => Promise<void> {
  const { endpoint, region, ...keys } = s3;
  const place = { ...(endpoint && { endpoint }), ...(region && { region }) };
  let role: { readonly client: S3Client; readonly untilMs: number } | undefined;
  const given = keys.accessKeyId === undefined ? undefined : new S3Client({ ...place, ...keys });

  async function clientNow(): Promise<S3Client> {
    if (given !== undefined) return given;
    if (role !== undefined && role.untilMs > Date.now()) return role.client;
    const { text, expiresAtMs = Number.POSITIVE_INFINITY } = await fetchAwsIdentity();
    const [accessKeyId, secretAccessKey, sessionToken] = text.split(':');
    const client = new S3Client({ ...place, accessKeyId, secretAccessKey, sessionToken });
    role = { client, untilMs: Math.min(expiresAtMs - 300_000, Date.now() + 3_600_000) };
    return client;
  }

  return async ({ bucket, prefix }, { key, texts }) => {
    // An upload can't be taken back, so it begins once all rows are read.
    const path = join(folder, `export-${crypto.randomUUID()}.gz`);
    try {
      if (!(await writeCompressed(path, texts))) return;
      const client = await clientNow();
      await client.write(prefix + key, Bun.file(path), { bucket, type: 'application/gzip', retry: 3 });
    } finally {
      await rm(path, { force: true });
    }
  };
}

/** Text by text: gzip members may follow each other. False without any. */
async function writeCompressed(path: string, texts: AsyncIterable<string>): Promise<boolean> {
  const file = await open(path, 'wx', 0o600);
  let isAny = false;
  try {
    for await (const text of texts) {
      await file.write(await compress(text));
      isAny = true;
    }
    return isAny;
  } finally {
    await file.close();
  }
}
