import { createKeySecret, isKeySecret } from '@llm0/core/keys/api-key';
import { createAdminSecret, isAdminSecret } from '../../admin/access/admin-token';
import type { Kind } from './resource-kinds';

/** How the secret looks that callers of the gateway have. */
export interface SecretForm {
  /** In the body of a new one. */
  readonly field: string;
  readonly is: (text: string) => boolean;
  readonly create: () => string;
  /** For refusals. */
  readonly looks: string;
}

const FORMS: Readonly<Partial<Record<Kind, SecretForm>>> = {
  key: {
    field: 'key',
    is: isKeySecret,
    create: () => createKeySecret().secret,
    looks: 'llm0_live_ and 64 random lower-case hex digits',
  },
  token: {
    field: 'token',
    is: isAdminSecret,
    create: () => createAdminSecret().secret,
    looks: 'llm0_admin_ and 48 random lower-case hex digits',
  },
};

/** Kinds that are created with a secret of their own; undefined for others. */
export const secretFormOf = (kind: Kind): SecretForm | undefined => FORMS[kind];
