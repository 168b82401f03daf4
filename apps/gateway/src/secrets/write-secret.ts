import { writeAwsSecret } from './fetch-aws';
import { writeGoogleSecret } from './fetch-google';
import type { SecretManagers } from './fetch-secret';
import { VaultReader } from './fetch-vault';
import type { Merge, SecretReference } from './secret-reference';

/** Puts a text into a secret manager, beside the other fields of its secret. Creates what isn't there. */
export async function writeSecret(
  { kind, name, field }: SecretReference,
  text: string,
  { env, vault, fetch }: SecretManagers,
): Promise<void> {
  const signal = AbortSignal.timeout(WRITE_MS);
  if (kind === 'aws-sm') return writeAwsSecret(name, merge(field, text), signal);
  if (kind === 'gcp-sm') return writeGoogleSecret(name, merge(field, text), { env, fetch, signal });
  if (kind !== 'vault') throw new Error(`nothing can be written to ${kind}:`);
  if (vault === undefined) throw new Error('VAULT_ADDR is not set');
  return new VaultReader(vault, fetch).write(name, { [field ?? DEFAULT_FIELD]: text }, signal);
}

const WRITE_MS = 10_000;
/** Vault knows secrets with fields only. */
const DEFAULT_FIELD = 'key';

function merge(field: string | undefined, text: string): Merge {
  if (field === undefined) return () => text;
  return (present) => {
    const fields: unknown = present === null ? {} : JSON.parse(present);
    if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
      throw new Error(`the secret is not an object, so it takes no field "${field}"`);
    }
    return JSON.stringify({ ...fields, [field]: text });
  };
}
