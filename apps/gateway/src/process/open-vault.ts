// An unreadable key file stops the start, because stored secrets couldn't be opened.
import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { closedVault, createSecretVault, type SecretVault } from '@llm0/core/keys/secret-vault';
import type { Config } from '../config/config';

const FILE_NAME = 'encryption-key';
const KEY_BYTES = 32;

/**
 * ENCRYPTION_KEY, or with embedded stores a generated key beside their data. Beside a real database, one machine's key
 * file would fail on others, so nothing can be sealed without ENCRYPTION_KEY.
 */
export async function openVault(
  config: Pick<Config, 'encryptionKey' | 'encryptionKeysPrevious' | 'databaseUrl'>,
  dataDir: string,
): Promise<SecretVault> {
  if (config.encryptionKey !== undefined) return createSecretVault(config.encryptionKey, config.encryptionKeysPrevious);
  if (config.databaseUrl !== undefined) return closedVault;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, FILE_NAME);
  return createSecretVault((await readKey(path)) ?? (await makeKey(path)));
}

async function readKey(path: string): Promise<Uint8Array | undefined> {
  try {
    const key = Buffer.from((await readFile(path, 'utf8')).trim(), 'base64');
    if (key.length === KEY_BYTES) return key;
    throw new Error(`${path} does not hold ${KEY_BYTES} bytes as base64: put the right key back, or delete it.`);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function makeKey(path: string): Promise<Uint8Array> {
  const key = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(`${Buffer.from(key).toString('base64')}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  return key;
}
