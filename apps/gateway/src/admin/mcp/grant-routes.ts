import { z } from '@hono/zod-openapi';
import { keyRows } from '@llm0/drizzle/queries/access/api-keys';
import { grantRows, type StoredGrant } from '@llm0/drizzle/queries/mcp/grants';
import { mcpServerRows } from '@llm0/drizzle/queries/mcp/servers';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import { id, instantShown, pageOf, pageQuery, showPage, text } from '../fields/fields';
import { required } from '../fields/find-or-refuse';
import { showFields } from '../fields/map-fields';

const at = routesOf('mcp');
const params = z.object({ id });

const grantSchema = z
  .object({
    id,
    api_key_id: id,
    customer_id: z.string().nullable(),
    issuer: z.string(),
    scope: z.string().nullable(),
    created_at: instantShown,
    updated_at: instantShown,
  })
  .openapi('McpGrant');

const list = defineRoute({
  ...at('get', '/mcp/servers/{id}/grants', "List users' grants for the server, newest first"),
  request: { params, query: z.strictObject(pageQuery) },
  responses: { 200: answers(pageOf(grantSchema), 'Grants, without their tokens') },
});
const remove = defineRoute({
  ...at('delete', '/mcp/servers/{id}/grants/{grant_id}', 'Delete a grant; its tokens stop working within two seconds'),
  request: { params: z.object({ id, grant_id: id }) },
  responses: { 204: { description: 'Deleted' } },
});
const ask = defineRoute({
  ...at('post', '/mcp/servers/{id}/consent', 'Create a consent link for a user'),
  request: {
    params,
    body: takes(
      z
        .strictObject({
          api_key_id: id,
          customer_id: text(256).nullish().openapi({ description: 'The X-Customer-ID; null = calls without one' }),
        })
        .openapi('McpConsent'),
    ),
  },
  responses: { 201: answers(z.object({ url: z.string() }), 'Opened in the browser of the user, within 15 minutes') },
});

type Needs = Pick<AdminServices, 'db' | 'mcpAdmin'>;

const shown = ({ customerId, ...grant }: StoredGrant) =>
  showFields(grantSchema, { ...grant, customerId: customerId === '' ? null : customerId });

export function mcpGrantRoutes({ db, mcpAdmin }: Needs) {
  const changes = new AuditedChanges(db, {
    ...{ resource: 'mcp_grant', what: 'grant', idOf: (grant: StoredGrant) => grant.id },
    show: shown,
  });
  const findServer = async (serverId: string) => required(await mcpServerRows.get(db, { id: serverId }), 'MCP server');
  return createRouter()
    .openapi(list, async (c) => {
      const { id: serverId } = await findServer(c.req.valid('param').id);
      return c.json(showPage(await grantRows.list(db, c.req.valid('query'), { serverId }), shown), 200);
    })
    .openapi(remove, async (c) => {
      const { id: serverId, grant_id: grantId } = c.req.valid('param');
      await changes.remove(c.get('actor'), (tx) => grantRows.delete(tx, { id: grantId, serverId }));
      return c.body(null, 204);
    })
    .openapi(ask, async (c) => {
      const { api_key_id: apiKeyId, customer_id: customerId } = c.req.valid('json');
      const { alias } = await findServer(c.req.valid('param').id);
      required(await keyRows.get(db, { id: apiKeyId }), 'key');
      const { url } = await mcpAdmin.consentLink(alias, { apiKeyId, customerId: customerId ?? '' });
      return c.json({ url }, 201);
    });
}
