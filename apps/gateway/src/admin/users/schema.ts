import { z } from '@hono/zod-openapi';
import type { StoredUser } from '@llm0/drizzle/queries/access/users';
import { id, instantShown, text } from '../fields/fields';
import { showFields } from '../fields/map-fields';
import { asLevel, levelLimits, levelLimitsShown } from '../teams/level-limits';

const email = z.email('must be an address such as ann@example.com').max(320);

export const newUserSchema = z
  .strictObject({
    name: text(),
    email: email.openapi({ description: 'The first sign-in with this verified address becomes this user' }),
  })
  .openapi('NewUser');
export const userChangesSchema = z
  .strictObject({
    name: text().optional(),
    email: email.optional(),
    is_active: z
      .boolean()
      .optional()
      .openapi({ description: 'false ends the sessions and stops the keys and tokens of the user' }),
    default_project_id: id.nullish().openapi({ description: 'For tokens without X-LLM0-Project' }),
    ...levelLimits,
  })
  .openapi('UserChanges');

export const userSchema = z
  .object({
    id,
    name: z.string(),
    email: z.string().nullable(),
    issuer: z.string().nullable().openapi({ description: 'null until the first sign-in' }),
    subject: z.string().nullable(),
    user_name: z.string().nullable().openapi({ description: 'Of SCIM; null for a user that SCIM did not send' }),
    external_id: z.string().nullable().openapi({ description: 'Of SCIM' }),
    is_active: z.boolean(),
    default_project_id: id.nullable(),
    ...levelLimitsShown,
    last_sign_in_at: instantShown.nullable(),
    created_at: instantShown,
    updated_at: instantShown,
  })
  .openapi('User');
export const showUser = (user: StoredUser) => showFields(userSchema, asLevel(user));
