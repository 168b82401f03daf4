import { asc } from 'drizzle-orm';
import type { Db } from '../../client';
import { mcpServers } from '../../schema/mcp';
import { Rows, type Stored } from '../rows';

/** MCP servers that an operator added. Their secrets are sealed, bound to the ids. */
export const mcpServerRows = new Rows(mcpServers);
export type StoredMcpServer = Stored<typeof mcpServerRows>;

/** All of them, by alias. */
export function listMcpServers(db: Db): Promise<readonly StoredMcpServer[]> {
  return mcpServerRows.find(db, undefined, asc(mcpServers.alias));
}
