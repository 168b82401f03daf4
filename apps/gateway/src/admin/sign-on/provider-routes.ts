import { z } from '@hono/zod-openapi';
import { invalidRequest } from '@llm0/core/errors/gateway-error';
import type { SecretVault } from '@llm0/core/keys/secret-vault';
import type { Db } from '@llm0/drizzle/client';
import { identityProviderRows, type StoredIdentityProvider } from '@llm0/drizzle/queries/access/identity-providers';
import { teamRows } from '@llm0/drizzle/queries/access/teams';
import { raiseKeysOfMembers, setScimRoles } from '@llm0/drizzle/queries/access/users';
import { raiseVersions } from '../../sign-on/raise-versions';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import { bringTablesIntoForce, type HotStoreMirror } from '../customers/hot-store-mirror';
import { id, pageOf, pageQuery, showPage } from '../fields/fields';
import { required } from '../fields/find-or-refuse';
import { readFields } from '../fields/map-fields';
import { unlessTaken } from '../teams/organization-routes';
import { newProviderSchema, providerChangesSchema, providerSchema, showProvider } from './provider-schema';

const at = routesOf('sign-on');
const params = z.object({ id });
const NAMED = 'an identity provider with this issuer or';

const create = defineRoute({
  ...at('post', '/identity-providers', 'Add an issuer of OpenID Connect; its sign-in button appears at once'),
  request: { body: takes(newProviderSchema) },
  responses: { 201: answers(providerSchema, 'The new provider, without the secret') },
});
const list = defineRoute({
  ...at('get', '/identity-providers', 'List identity providers, newest first'),
  request: { query: z.strictObject(pageQuery) },
  responses: { 200: answers(pageOf(providerSchema), 'Providers') },
});
const show = defineRoute({
  ...at('get', '/identity-providers/{id}', 'Show an identity provider'),
  request: { params },
  responses: { 200: answers(providerSchema, 'The provider, without the secret') },
});
const change = defineRoute({
  ...at('patch', '/identity-providers/{id}', 'Change an identity provider, from the next sign-in'),
  request: { params, body: takes(providerChangesSchema) },
  responses: { 200: answers(providerSchema, 'The provider as it is now') },
});
const remove = defineRoute({
  ...at(
    'delete',
    '/identity-providers/{id}',
    'Delete an identity provider; ends its sessions and the roles of its groups',
  ),
  request: { params },
  responses: { 204: { description: 'Deleted' } },
});

type Needs = Pick<AdminServices, 'db' | 'hotStore' | 'reloadTables' | 'providerAdmin' | 'checkUrl'>;

const KIND = {
  ...{
    resource: 'identity_provider' as const,
    what: 'identity provider',
    idOf: (one: StoredIdentityProvider) => one.id,
  },
  show: showProvider,
};

export function identityProviderRoutes(services: Needs, mirror: HotStoreMirror) {
  const { db, providerAdmin, checkUrl } = services;
  /** Tokens on the data plane follow the providers, and groups of SCIM their `group_roles`. */
  const bringIntoForce = async (lost: Raised = []) => {
    const raised = [...lost, ...(await db.transaction((tx) => setScimRoles(tx)))];
    await mirror.apply(`roles by SCIM ${crypto.randomUUID()}`, () => raiseVersions(services.hotStore, raised));
    await bringTablesIntoForce(services, mirror);
  };
  const changes = new AuditedChanges(db, KIND);
  return createRouter()
    .openapi(create, async (c) => {
      const { client_secret: secret, ...body } = c.req.valid('json');
      await checkUrl(body.issuer);
      const made = changes.create(c.get('actor'), async (tx) => {
        await refuseUnknownTeams(tx, body.group_roles);
        const rowId = crypto.randomUUID();
        const { scopes = 'openid profile email groups', groupsClaim = 'groups', ...rest } = readFields(body);
        const sealed = sealSecret(providerAdmin.vault, secret, rowId);
        return identityProviderRows.create(tx, { ...rest, scopes, groupsClaim, id: rowId, ...sealed });
      });
      const provider = await unlessTaken(NAMED, made);
      await bringIntoForce();
      return c.json(showProvider(provider), 201);
    })
    .openapi(list, async (c) => {
      const page = await identityProviderRows.list(db, c.req.valid('query'));
      return c.json(showPage(page, showProvider), 200);
    })
    .openapi(show, async (c) => {
      const found = await identityProviderRows.get(db, c.req.valid('param'));
      return c.json(showProvider(required(found, 'identity provider')), 200);
    })
    .openapi(change, async (c) => {
      const at = c.req.valid('param');
      const { client_secret: secret, group_roles: groupRoles, jwt, ...body } = c.req.valid('json');
      if (body.issuer !== undefined) await checkUrl(body.issuer);
      const write = async (tx: Db) => {
        const before = required(await identityProviderRows.get(tx, at), 'identity provider');
        refuseFixed(before, secret !== undefined || Object.keys(body).length > 0);
        await refuseUnknownTeams(tx, groupRoles);
        const sealed = sealSecret(providerAdmin.vault, secret, at.id);
        return identityProviderRows.update(tx, at, { ...readFields(body), groupRoles, jwt, ...sealed });
      };
      const changed = changes.update(c.get('actor'), (tx) => identityProviderRows.get(tx, at), write);
      const provider = await unlessTaken(NAMED, changed);
      await bringIntoForce();
      return c.json(showProvider(provider), 200);
    })
    .openapi(remove, async (c) => {
      const at = c.req.valid('param');
      let lost: Raised = [];
      await changes.remove(c.get('actor'), async (tx) => {
        lost = await raiseKeysOfMembers(tx, { identityProviderId: at.id });
        return identityProviderRows.delete(tx, at);
      });
      await bringIntoForce(lost);
      return c.body(null, 204);
    });
}

function refuseFixed({ isFromEnvironment }: StoredIdentityProvider, isChanged: boolean): void {
  if (!isFromEnvironment || !isChanged) return;
  throw invalidRequest('issuer', 'OIDC_ISSUER sets this provider. Only group_roles and jwt can change here.');
}

type Raised = Awaited<ReturnType<typeof raiseKeysOfMembers>>;
type GivenRoles = readonly { readonly team_id: string }[] | undefined;

async function refuseUnknownTeams(tx: Db, roles: GivenRoles): Promise<void> {
  for (const teamId of new Set(roles?.map((one) => one.team_id))) {
    required(await teamRows.get(tx, { id: teamId }), 'team');
  }
}

/** undefined leaves the secret. */
function sealSecret(vault: SecretVault, secret: string | null | undefined, rowId: string) {
  if (secret === undefined) return {};
  if (secret === null) return { encryptedSecret: null, encryptionKeyId: null };
  const { bytes: encryptedSecret, keyId: encryptionKeyId } = vault.seal(secret, rowId);
  return { encryptedSecret, encryptionKeyId };
}
