import { z } from '@hono/zod-openapi';
import type { Db } from '@llm0/drizzle/client';
import { mcpServerRows, type StoredMcpServer } from '@llm0/drizzle/queries/mcp/servers';
import { listDeclinedTools, listTools } from '@llm0/drizzle/queries/mcp/tools';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import { bringTablesIntoForce, type HotStoreMirror } from '../customers/hot-store-mirror';
import { id, pageQuery, showPage, text } from '../fields/fields';
import { required } from '../fields/find-or-refuse';
import {
  checkSchema,
  newServerSchema,
  previewSchema,
  serverChangesSchema,
  serverPage,
  serverSchema,
  showCheck,
  showPreview,
  showServer,
} from './schema';
import { changedRow, checkPlace, newRow, taken } from './server-rows';
import { decideOnTools } from './tool-routes';

const at = routesOf('mcp');
const params = z.object({ id });

const create = defineRoute({
  ...at('post', '/mcp/servers', 'Add an MCP server and approve its read-only tools; applies at once'),
  request: { body: takes(newServerSchema) },
  responses: { 201: answers(serverSchema, 'The server, without its secrets') },
});
const list = defineRoute({
  ...at('get', '/mcp/servers', 'List MCP servers, newest first'),
  request: { query: z.strictObject({ alias: text().optional(), ...pageQuery }) },
  responses: { 200: answers(serverPage, 'Servers') },
});
const show = defineRoute({
  ...at('get', '/mcp/servers/{id}', 'Show an MCP server'),
  request: { params },
  responses: { 200: answers(serverSchema, 'The server, without its secrets') },
});
const change = defineRoute({
  ...at('patch', '/mcp/servers/{id}', 'Change the given fields; applies at once. headers, env and auth are replaced'),
  request: { params, body: takes(serverChangesSchema) },
  responses: { 200: answers(serverSchema, 'The server as it is now') },
});
const remove = defineRoute({
  ...at('delete', '/mcp/servers/{id}', 'Delete an MCP server and its approvals; its log rows stay'),
  request: { params },
  responses: { 204: { description: 'Deleted' } },
});
const refresh = defineRoute({
  ...at('post', '/mcp/servers/{id}/refresh', "Reload the server's tools"),
  request: { params },
  responses: { 200: answers(checkSchema, 'Whether it answered, and what it offers') },
});
type Needs = Pick<AdminServices, 'db' | 'hotStore' | 'reloadTables' | 'mcpAdmin' | 'checkUrl'>;

export function mcpServerRoutes(services: Needs, mirror: HotStoreMirror) {
  const { db, mcpAdmin } = services;
  const shownWith = (declined: ReadonlyMap<string, ReadonlySet<string>>) => (row: StoredMcpServer) =>
    showServer(row, mcpAdmin.health(row.alias), declined.get(row.id));
  const shown = async (row: StoredMcpServer) => shownWith(await listDeclinedTools(db))(row);
  const goLive = () => bringTablesIntoForce(services, mirror);
  const changes = new AuditedChanges(db, {
    ...{ resource: 'mcp_server', what: 'MCP server', idOf: (row: StoredMcpServer) => row.id },
    show: (row) => {
      const { health: _, ...set } = shownWith(new Map())(row);
      return set;
    },
    goLive,
  });
  const find = async (tx: Db, at: { readonly id: string }) => required(await mcpServerRows.get(tx, at), 'MCP server');
  return createRouter()
    .openapi(create, async (c) => {
      const body = c.req.valid('json');
      await checkPlace(services, body, body.transport ?? 'http');
      const stored = await changes.create(c.get('actor'), async (tx) => {
        const made = await mcpServerRows.createUnlessThere(tx, newRow(services, body));
        if (made === null) throw taken(body.alias);
        return made;
      });
      if (stored.isActive) await mcpAdmin.check(stored.alias);
      const { approve_tools: picked = [], decline_tools: left = [] } = body;
      if (stored.isActive && picked.length + left.length > 0) {
        await decideOnTools(services, mirror, { actor: c.get('actor'), server: stored, picked, left });
        await mcpAdmin.check(stored.alias);
      }
      return c.json(await shown(await find(db, { id: stored.id })), 201);
    })
    .openapi(list, async (c) => {
      const { alias, ...page } = c.req.valid('query');
      const declined = await listDeclinedTools(db);
      return c.json(showPage(await mcpServerRows.list(db, page, { alias }), shownWith(declined)), 200);
    })
    .openapi(show, async (c) => c.json(await shown(await find(db, c.req.valid('param'))), 200))
    .openapi(change, async (c) => {
      const at = c.req.valid('param');
      const body = c.req.valid('json');
      const { transport } = await find(db, at);
      await checkPlace(services, body, transport, true);
      const stored = await changes.update(
        c.get('actor'),
        (tx) => mcpServerRows.get(tx, at),
        async (tx) => mcpServerRows.update(tx, at, changedRow(services, body, await find(tx, at))),
      );
      return c.json(await shown(stored), 200);
    })
    .openapi(remove, async (c) => {
      await changes.remove(c.get('actor'), (tx) => mcpServerRows.delete(tx, c.req.valid('param')));
      return c.body(null, 204);
    })
    .openapi(refresh, async (c) => {
      const { id: serverId, alias } = await find(db, c.req.valid('param'));
      const check = await mcpAdmin.check(alias);
      return c.json(showCheck(check, await listTools(db, serverId)), 200);
    });
}

const check = defineRoute({
  ...at('post', '/mcp/servers/check', 'List the tools of a server before it is added; nothing is stored'),
  request: { body: takes(newServerSchema) },
  responses: { 200: answers(previewSchema, 'Whether it answered, and its tools') },
});

/** A server that isn't added yet: the operator sees its tools first. */
export function mcpCheckRoutes(services: Needs) {
  const { db, mcpAdmin } = services;
  return createRouter().openapi(check, async (c) => {
    const body = c.req.valid('json');
    await checkPlace(services, body, body.transport ?? 'http');
    const { data } = await mcpServerRows.list(db, { limit: 1 }, { alias: body.alias });
    if (data.length > 0) throw taken(body.alias);
    return c.json(showPreview(await mcpAdmin.preview(newRow(services, body))), 200);
  });
}
