import { createRoute, z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Db } from '@llm0/drizzle/client';
import { mcpServerRows, type StoredMcpServer } from '@llm0/drizzle/queries/mcp/servers';
import { listTools } from '@llm0/drizzle/queries/mcp/tools';
import { answers, createRouter, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import { bringTablesIntoForce, type HotStoreMirror } from '../customers/hot-store-mirror';
import { id, pageQuery, showPage, text } from '../fields/fields';
import { required } from '../fields/find-or-refuse';
import { readFields } from '../fields/map-fields';
import {
  checkSchema,
  newServerSchema,
  serverChangesSchema,
  serverPage,
  serverSchema,
  showCheck,
  showServer,
} from './schema';
import { sealServer } from './seal-server';

const at = routesOf('mcp');
const params = z.object({ id });

const create = createRoute({
  ...at('post', '/mcp/servers', 'Add an MCP server and approve its read-only tools; applies at once'),
  request: { body: takes(newServerSchema) },
  responses: { 201: answers(serverSchema, 'The server, without its secrets') },
});
const list = createRoute({
  ...at('get', '/mcp/servers', 'List MCP servers, newest first'),
  request: { query: z.strictObject({ alias: text().optional(), ...pageQuery }) },
  responses: { 200: answers(serverPage, 'Servers') },
});
const show = createRoute({
  ...at('get', '/mcp/servers/{id}', 'Show an MCP server'),
  request: { params },
  responses: { 200: answers(serverSchema, 'The server, without its secrets') },
});
const change = createRoute({
  ...at('patch', '/mcp/servers/{id}', 'Change the given fields; applies at once. headers, env and auth are replaced'),
  request: { params, body: takes(serverChangesSchema) },
  responses: { 200: answers(serverSchema, 'The server as it is now') },
});
const remove = createRoute({
  ...at('delete', '/mcp/servers/{id}', 'Delete an MCP server and its approvals; its log rows stay'),
  request: { params },
  responses: { 204: { description: 'Deleted' } },
});
const refresh = createRoute({
  ...at('post', '/mcp/servers/{id}/refresh', "Reload the server's tools"),
  request: { params },
  responses: { 200: answers(checkSchema, 'Whether it answered, and what it offers') },
});
type Needs = Pick<AdminServices, 'db' | 'hotStore' | 'reloadTables' | 'mcpAdmin' | 'checkUrl'>;
type NewServer = z.infer<typeof newServerSchema>;
type ServerChanges = z.infer<typeof serverChangesSchema>;

export function mcpServerRoutes(services: Needs, mirror: HotStoreMirror) {
  const { db, mcpAdmin } = services;
  const shown = (row: StoredMcpServer) => showServer(row, mcpAdmin.health(row.alias));
  const goLive = () => bringTablesIntoForce(services, mirror);
  const changes = new AuditedChanges(db, {
    ...{ resource: 'mcp_server', what: 'MCP server', idOf: (row: StoredMcpServer) => row.id },
    show: (row) => {
      const { health: _, ...set } = shown(row);
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
      return c.json(shown(await find(db, { id: stored.id })), 201);
    })
    .openapi(list, async (c) => {
      const { alias, ...page } = c.req.valid('query');
      return c.json(showPage(await mcpServerRows.list(db, page, { alias }), shown), 200);
    })
    .openapi(show, async (c) => c.json(shown(await find(db, c.req.valid('param'))), 200))
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
      return c.json(shown(stored), 200);
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

function newRow({ mcpAdmin }: Needs, body: NewServer) {
  const rowId = crypto.randomUUID();
  const { headers: _headers, env: _env, auth: _auth, ...rest } = body;
  return {
    ...cleared(readFields({ ...rest, transport: body.transport ?? 'http', approve: body.approve ?? 'read_only' })),
    id: rowId,
    ...sealServer(mcpAdmin.vault, body, rowId),
  };
}

function changedRow({ mcpAdmin }: Needs, body: ServerChanges, before: StoredMcpServer) {
  const { headers: _headers, env: _env, auth: _auth, ...rest } = body;
  return { ...cleared(readFields(rest)), ...sealServer(mcpAdmin.vault, body, before.id, before) };
}

/** A list that is taken away is an empty one. */
function cleared<R extends { readonly args?: unknown; readonly blockedTools?: unknown }>(row: R) {
  return {
    ...row,
    ...(row.args === null ? { args: [] } : {}),
    ...(row.blockedTools === null ? { blockedTools: [] } : {}),
  } as Omit<R, 'args' | 'blockedTools'> & { args?: string[]; blockedTools?: string[] };
}

type Place = Pick<NewServer, 'url' | 'command' | 'args' | 'env' | 'headers' | 'auth'>;

/** Validates the fields of each transport; `isChange`: missing fields stay. */
async function checkPlace(
  { mcpAdmin, checkUrl }: Needs,
  body: Place,
  transport: 'http' | 'stdio',
  isChange = false,
): Promise<void> {
  const refuse = (param: keyof Place, why: string) => {
    throw new GatewayError('invalid_request', `${param}: ${why}`, { param });
  };
  const isGiven = (param: keyof Place) => body[param] !== undefined && body[param] !== null;
  const [own, others] = PLACES[transport];
  for (const param of others)
    if (isGiven(param)) refuse(param, `is not for a server with the transport "${transport}".`);
  if (!isChange && !isGiven(own)) refuse(own, `is required for a server with the transport "${transport}".`);
  if (transport === 'stdio' && !mcpAdmin.mayRunServers) {
    const message =
      'This gateway runs no stdio servers. MCP_STDIO=true permits them, and lets anyone who may add servers run programs on its machine.';
    throw new GatewayError('invalid_request', message, { param: 'transport' });
  }
  if (typeof body.url === 'string') await checkUrl(body.url);
}

const PLACES = {
  http: ['url', ['command', 'args', 'env']],
  stdio: ['command', ['url', 'headers', 'auth']],
} as const satisfies Record<string, readonly [keyof Place, readonly (keyof Place)[]]>;

function taken(alias: string): GatewayError {
  const message = `An MCP server "${alias}" already exists. Edit it, or choose another alias.`;
  return new GatewayError('conflict', message, { param: 'alias' });
}
