import { z } from '@hono/zod-openapi';
import type { StoredIdentityProvider } from '@llm0/drizzle/queries/access/identity-providers';
import { isIssuerUrl } from '../../config/sign-on';
import { id, instantShown, text } from '../fields/fields';
import { showFields } from '../fields/map-fields';
import { role } from '../teams/schema';

const MAX_GROUP_ROLES = 1000;

const issuer = z
  .string()
  .max(1000)
  .refine(isIssuerUrl, 'must be a URL starting with https://, or http:// on this machine');
const groupRole = z.strictObject({ group: text(512), team_id: id, role }).openapi('GroupRole');

const settings = {
  client_secret: text(4000).nullish().openapi({ writeOnly: true, description: 'null = a public client' }),
  scopes: text(1000)
    .refine((scopes) => scopes.split(' ').includes('openid'), 'must have openid among them')
    .optional()
    .openapi({ default: 'openid profile email groups' }),
  groups_claim: text().optional().openapi({ default: 'groups', description: 'Claim of the ID token, or of userinfo' }),
  group_roles: z
    .array(groupRole)
    .max(MAX_GROUP_ROLES, `must have at most ${MAX_GROUP_ROLES} groups`)
    .optional()
    .openapi({ description: 'Roles by group, set at each sign-in; of several roles in a team the first holds' }),
  is_active: z.boolean().optional(),
};

export const newProviderSchema = z
  .strictObject({ name: text(), issuer, client_id: text(500), ...settings })
  .openapi('NewIdentityProvider');
export const providerChangesSchema = z
  .strictObject({ name: text().optional(), issuer: issuer.optional(), client_id: text(500).optional(), ...settings })
  .openapi('IdentityProviderChanges');

export const providerSchema = z
  .object({
    id,
    name: z.string(),
    issuer: z.string(),
    client_id: z.string(),
    has_client_secret: z.boolean(),
    scopes: z.string(),
    groups_claim: z.string(),
    group_roles: z.array(groupRole),
    is_from_environment: z.boolean().openapi({ description: 'Only group_roles can be changed here' }),
    is_active: z.boolean(),
    created_at: instantShown,
    updated_at: instantShown,
  })
  .openapi('IdentityProvider');

export const showProvider = (provider: StoredIdentityProvider) => {
  const hasClientSecret = provider.encryptedSecret !== null || provider.isFromEnvironment;
  return showFields(providerSchema, { ...provider, hasClientSecret });
};
