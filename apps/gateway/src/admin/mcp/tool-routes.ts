import { z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { mcpServerRows, type StoredMcpServer } from '@llm0/drizzle/queries/mcp/servers';
import { approveTool, declineTool, getTool, listTools } from '@llm0/drizzle/queries/mcp/tools';
import { answers, createRouter, defineRoute, routesOf } from '../admin-router';
import type { Actor, AdminServices } from '../admin-services';
import { recordChange } from '../audit/record-change';
import { bringTablesIntoForce, type HotStoreMirror } from '../customers/hot-store-mirror';
import { id, text } from '../fields/fields';
import { required } from '../fields/find-or-refuse';
import { showTool, toolSchema } from './schema';

const at = routesOf('mcp');
const params = z.object({ id });
const toolParams = z.object({ id, name: text(128) });

const tools = defineRoute({
  ...at('get', '/mcp/servers/{id}/tools', "List the server's tools by name"),
  request: { params },
  responses: { 200: answers(z.object({ data: z.array(toolSchema) }), 'Tools') },
});
const request = {
  params: toolParams,
  body: {
    required: false,
    content: {
      'application/json': {
        schema: z
          .strictObject({
            hash: text(64)
              .optional()
              .openapi({ description: 'Hash of the reviewed version; another version gets 409' }),
          })
          .openapi('McpApproval'),
      },
    },
  },
};
const decline = defineRoute({
  ...at('post', '/mcp/servers/{id}/tools/{name}/decline', 'Leave a tool out until its server changes it'),
  request,
  responses: { 200: answers(toolSchema, 'The tool as it is now') },
});
const approve = defineRoute({
  ...at('post', '/mcp/servers/{id}/tools/{name}/approve', 'Approve the current version of a tool; applies at once'),
  request,
  responses: { 200: answers(toolSchema, 'The tool as it is now') },
});

type Needs = Pick<AdminServices, 'db' | 'hotStore' | 'reloadTables'>;

export function mcpToolRoutes(services: Needs, mirror: HotStoreMirror) {
  const { db } = services;
  const find = async (at: { readonly id: string }) => required(await mcpServerRows.get(db, at), 'MCP server');
  const decide = async (write: typeof approveTool, { id: serverId, name, hash, actor }: Decision) => {
    const server = await find({ id: serverId });
    const tool = await recordChange(db, actor, async (tx) => {
      const at = { serverId, name };
      const before = required(await getTool(tx, at), 'tool');
      const after = await write(tx, at, hash);
      if (after === null) throw changedAgain(name);
      const resourceId = `${server.alias}/${name}`;
      const declined = after.declinedHash === null ? {} : { declined: true };
      const said = { before: { approved: before.approved }, after: { approved: after.approved, ...declined } };
      return { result: after, action: 'update', resource: 'mcp_tool', resourceId, ...said };
    });
    await bringTablesIntoForce(services, mirror);
    return showTool(tool, server);
  };
  return createRouter()
    .openapi(tools, async (c) => {
      const server = await find(c.req.valid('param'));
      return c.json({ data: (await listTools(db, server.id)).map((tool) => showTool(tool, server)) }, 200);
    })
    .openapi(approve, async (c) => {
      const asked = { ...c.req.valid('param'), ...c.req.valid('json'), actor: c.get('actor') };
      return c.json(await decide(approveTool, asked), 200);
    })
    .openapi(decline, async (c) => {
      const asked = { ...c.req.valid('param'), ...c.req.valid('json'), actor: c.get('actor') };
      return c.json(await decide(declineTool, asked), 200);
    });
}

interface Decision {
  readonly id: string;
  readonly name: string;
  readonly hash?: string;
  readonly actor: Actor;
}

export interface Picked {
  readonly actor: Actor;
  readonly server: StoredMcpServer;
  readonly picked: readonly SeenVersion[];
  readonly left: readonly SeenVersion[];
}

interface SeenVersion {
  readonly name: string;
  readonly hash: string;
}

/** Approves the tools of a new server that an operator picked, and declines those left out. One changed since waits. */
export async function decideOnTools(services: Needs, mirror: HotStoreMirror, { actor, server, picked, left }: Picked) {
  await recordChange(services.db, actor, async (tx) => {
    for (const { name, hash } of left) await declineTool(tx, { serverId: server.id, name }, hash);
    const approved: string[] = [];
    for (const { name, hash } of picked) {
      if ((await approveTool(tx, { serverId: server.id, name }, hash)) !== null) approved.push(name);
    }
    const said = { before: { approved: [] }, after: { approved } };
    return { result: null, action: 'update', resource: 'mcp_tool', resourceId: server.alias, ...said };
  });
  await bringTablesIntoForce(services, mirror);
}

function changedAgain(name: string): GatewayError {
  const message = `The server changed "${name}" again since you read it. Read it again, then approve it.`;
  return new GatewayError('conflict', message, { param: 'hash' });
}
