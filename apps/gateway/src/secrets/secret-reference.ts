/** Where a secret is kept: in a secret manager, with the platform's identity service, in a file or in a variable. */
export type SecretKind = 'env' | 'file' | 'vault' | 'aws-sm' | 'gcp-sm' | 'identity';

/** Stands for a secret in settings and in the place of provider keys: `vault:secret/data/openai#key`. */
export interface SecretReference {
  readonly kind: SecretKind;
  /** Path, ARN, resource name, file or variable. */
  readonly name: string;
  /** Field of a secret with several. */
  readonly field: string | undefined;
}

/** A secret as it is now. */
export interface FetchedSecret {
  readonly text: string;
  /** Unix milliseconds; absent for one that doesn't expire. */
  readonly expiresAtMs?: number | undefined;
}

/** There is no such secret, or it lacks the field. */
export class SecretMissing extends Error {}

/** The new text of a secret, from its present one; null if there is none. */
export type Merge = (present: string | null) => string;

const REFERENCE = /^(env|file|vault|aws-sm|gcp-sm|identity):(.*)$/s;
const WITH_FIELD = /^(.*?)(?:#([^#]*))?$/s;

/** undefined for anything else than a reference. */
export function parseReference(text: string): SecretReference | undefined {
  const [, kind, name = ''] = REFERENCE.exec(text) ?? [];
  if (kind === undefined) return undefined;
  if (!isManaged(kind as SecretKind)) return { kind: kind as SecretKind, name, field: undefined };
  const [, path = '', field] = WITH_FIELD.exec(name) ?? [];
  return { kind: kind as SecretKind, name: path, field: field || undefined };
}

/** True for kinds that a service answers, by a name that any machine may use. */
export const isManaged = (kind: SecretKind): boolean => kind !== 'env' && kind !== 'file';
