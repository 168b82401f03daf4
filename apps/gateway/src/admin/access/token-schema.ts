import { z } from '@hono/zod-openapi';
import { id, instantOrNull, instantShown, text } from '../fields/fields';
import { isAdminSecret } from './admin-token';

const role = z.enum(['admin', 'viewer', 'scim']).openapi({ description: 'scim: for /scim/v2 only' });
const settings = {
  can_read_bodies: z
    .boolean()
    .nullish()
    .openapi({ description: 'May read stored prompts and answers; default: admins yes, viewers no' }),
  expires_at: instantOrNull,
};

/** Chosen by the operator, as for a file that describes the token. */
const givenToken = z
  .string()
  .refine(isAdminSecret, 'must be llm0_admin_ and 48 random lower-case hex digits')
  .openapi({ description: 'Its secret; default: a random one' });

export const newTokenSchema = z
  .strictObject({ name: text(), role: role.default('admin'), ...settings, token: givenToken.optional() })
  .openapi('NewToken');

export const tokenChangesSchema = z
  .strictObject({ name: text().optional(), role: role.optional(), ...settings })
  .openapi('TokenChanges');

const shown = z.object({
  id,
  name: z.string(),
  role,
  can_read_bodies: z.boolean(),
  prefix: z.string(),
  created_at: instantShown,
  expires_at: instantShown.nullable(),
});
export const tokenSchema = shown.openapi('Token');

export const listedTokenSchema = shown
  .extend({
    open_sessions: z.int().openapi({ description: 'Open dashboard sessions' }),
    last_used_at: instantShown.nullable().openapi({ description: 'To a minute; null = never' }),
    is_current: z.boolean().openapi({ description: 'This request has it, or its session' }),
  })
  .openapi('ListedToken');

export const tokenWithSecretSchema = shown
  .extend({ token: z.string().openapi({ description: 'The secret, shown once; the gateway stores only its SHA-256' }) })
  .openapi('TokenWithSecret');
