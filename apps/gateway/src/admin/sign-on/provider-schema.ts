import { z } from '@hono/zod-openapi';
import type { StoredIdentityProvider } from '@llm0/drizzle/queries/access/identity-providers';
import { isIssuerUrl } from '../../config/sign-on';
import { id, instantShown, text } from '../fields/fields';
import { showFields } from '../fields/map-fields';
import { role } from '../teams/schema';

const MAX_GROUP_ROLES = 1000;
/** Signatures by a private key: a secret that both sides know proves nothing. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'] as const;

const issuer = z
  .string()
  .max(1000)
  .refine(isIssuerUrl, 'must be a URL starting with https://, or http:// on this machine');
const groupRole = z.strictObject({ group: text(512), team_id: id, role }).openapi('GroupRole');

const jwt = z
  .strictObject({
    audience: text(500).openapi({ description: 'Must be in the "aud" of the token' }),
    algorithms: z.array(z.enum(ALGORITHMS)).min(1).default(['RS256', 'ES256']),
  })
  .openapi('TokenSettings');

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
  jwt: jwt.nullish().openapi({ description: 'Signed tokens of this issuer work as keys; null = they don’t' }),
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
    jwt: z.object({ audience: z.string(), algorithms: z.array(z.string()) }).nullable(),
    is_from_environment: z.boolean().openapi({ description: 'Only group_roles and jwt can be changed here' }),
    is_active: z.boolean(),
    created_at: instantShown,
    updated_at: instantShown,
  })
  .openapi('IdentityProvider');

export const showProvider = (provider: StoredIdentityProvider) => {
  const hasClientSecret = provider.encryptedSecret !== null || provider.isFromEnvironment;
  return showFields(providerSchema, { ...provider, hasClientSecret });
};
