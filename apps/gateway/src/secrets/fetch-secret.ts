import { readFile } from 'node:fs/promises';
import { fetchAwsIdentity, fetchAwsSecret } from './fetch-aws';
import { fetchAzureIdentity } from './fetch-azure';
import { type Federation, fetchFederated } from './fetch-federated';
import { fetchGoogleIdentity, fetchGoogleSecret } from './fetch-google';
import { VaultReader, type VaultSettings } from './fetch-vault';
import { type FetchedSecret, type SecretKind, SecretMissing, type SecretReference } from './secret-reference';

/** Asks for a secret now. Throws an error without the secret in its message. */
export type FetchSecret = (reference: SecretReference, signal: AbortSignal) => Promise<FetchedSecret>;

export interface SecretManagers {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absent without `VAULT_ADDR`. */
  readonly vault?: VaultSettings | undefined;
  /** Exchanges of an identity token, by provider. */
  readonly federations?: Readonly<Record<string, Federation>> | undefined;
  readonly fetch: typeof globalThis.fetch;
}

/** A secret from where its reference says. Vendors' libraries load at the first reference of their kind. */
export function createFetchSecret({ env, vault, federations = {}, fetch }: SecretManagers): FetchSecret {
  const reader = vault && new VaultReader(vault, fetch);
  const identities: Readonly<Record<string, (signal: AbortSignal) => Promise<FetchedSecret>>> = {
    aws: fetchAwsIdentity,
    azure: fetchAzureIdentity,
    gcp: fetchGoogleIdentity,
  };
  const fetchers: Readonly<Record<SecretKind, FetchSecret>> = {
    env: async ({ name }) => ({ text: given(env[name], `the variable ${name} is not set`) }),
    file: async ({ name }) => ({ text: given((await readFile(name, 'utf8')).trim(), `the file ${name} is empty`) }),
    vault: async (reference, signal) => {
      if (reader === undefined) throw new Error('VAULT_ADDR is not set');
      const { fields, expiresAtMs } = await reader.read(reference.name, signal);
      return { text: fieldOf(fields, reference.field), expiresAtMs };
    },
    'aws-sm': async ({ name, field }, signal) => ({ text: ofText(await fetchAwsSecret(name, signal), field) }),
    'gcp-sm': async ({ name, field }, signal) => ({
      text: ofText(await fetchGoogleSecret(name, { env, fetch, signal }), field),
    }),
    identity: async ({ name }, signal) => {
      const federation = Object.hasOwn(federations, name) ? federations[name] : undefined;
      if (federation !== undefined) return fetchFederated(federation, { fetch, signal });
      const identity = Object.hasOwn(identities, name) ? identities[name] : undefined;
      if (identity !== undefined) return identity(signal);
      throw new Error(`identity:${name} is unknown, or its settings are missing`);
    },
  };
  return (reference, signal) => fetchers[reference.kind](reference, signal);
}

function given(text: string | undefined, problem: string): string {
  if (text === undefined || text === '') throw new Error(problem);
  return text;
}

/** The whole text, or a field of the object that it is. */
export function ofText(text: string, field: string | undefined): string {
  if (field === undefined) return given(text.trim(), 'the secret is empty');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`the secret is not JSON, so it has no field "${field}"`);
  }
  return fieldOf(value, field);
}

/** Without a name, the only field. */
export function fieldOf(value: unknown, field: string | undefined): string {
  const fields = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  const names = Object.keys(fields);
  const [only] = names;
  const name = field ?? (names.length === 1 ? only : undefined);
  if (name === undefined) throw new Error(`the secret has ${names.length} fields: append #field to the reference`);
  const text = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (typeof text !== 'string') throw new SecretMissing(`the secret has no text in a field "${name}"`);
  return given(text.trim(), `the field "${name}" of the secret is empty`);
}
