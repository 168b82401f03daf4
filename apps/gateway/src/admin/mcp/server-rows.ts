import type { z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { StoredMcpServer } from '@llm0/drizzle/queries/mcp/servers';
import type { AdminServices } from '../admin-services';
import { readFields } from '../fields/map-fields';
import type { newServerSchema, serverChangesSchema } from './schema';
import { sealServer } from './seal-server';

type Needs = Pick<AdminServices, 'mcpAdmin' | 'checkUrl'>;
export type NewServer = z.infer<typeof newServerSchema>;
type ServerChanges = z.infer<typeof serverChangesSchema>;

export function newRow({ mcpAdmin }: Needs, body: NewServer) {
  const rowId = crypto.randomUUID();
  const {
    headers: _headers,
    env: _env,
    auth: _auth,
    approve_tools: picked,
    decline_tools: _declined,
    approve: asked = 'read_only',
    ...rest
  } = body;
  const approve = picked === undefined ? asked : 'none';
  return {
    ...cleared(readFields({ ...rest, transport: body.transport ?? 'http', approve })),
    id: rowId,
    ...sealServer(mcpAdmin.vault, body, rowId),
  };
}

export function changedRow({ mcpAdmin }: Needs, body: ServerChanges, before: StoredMcpServer) {
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
export async function checkPlace(
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

export function taken(alias: string): GatewayError {
  const message = `An MCP server "${alias}" already exists. Edit it, or choose another alias.`;
  return new GatewayError('conflict', message, { param: 'alias' });
}
