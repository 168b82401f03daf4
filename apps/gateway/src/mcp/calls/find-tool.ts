import type { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Lists } from '@llm0/core/keys/api-key';
import { joinToolName, splitToolName } from '@llm0/core/mcp/tool-name';
import { CallRefusal } from '../endpoint/mcp-errors';
import type { ServerEntry, ToolView } from '../servers/server-entry';
import type { RegistryView } from '../servers/server-registry';
import { isAllowed, isOffered, mayUseAll, mayUseServer } from './tool-rights';

/** Named model and permitted models of a request. */
export interface Naming {
  readonly registry: RegistryView;
  /** `alias__tool` patterns of the key and the levels above. */
  readonly patterns: Lists;
  /** Set for a single server, whose names stay unchanged. */
  readonly scope: string | undefined;
}

const SHOWN = 120;

const refusal = (message: string, param: string): CallRefusal =>
  new CallRefusal('not_found', message, { code: -32602, param });

/** The scope's server for a key. Throws without one. */
export function findServer({ registry, patterns }: Naming, alias: string): ServerEntry {
  const entry = registry.find(alias);
  if (entry !== undefined && mayUseServer(patterns, alias)) return entry;
  throw new CallRefusal('not_found', `There is no MCP server "${alias.slice(0, SHOWN)}" that this key may use.`, {
    httpStatus: 404,
    param: 'server',
  });
}

/** Every server that a key may use, by alias. */
export const serversOf = ({ registry, patterns, scope }: Naming): readonly ServerEntry[] =>
  (scope === undefined ? registry.aliases() : [scope])
    .filter((alias) => mayUseServer(patterns, alias))
    .flatMap((alias) => registry.find(alias) ?? []);

/** Splits `alias__name`; in a scope the name is the server's own. */
export function splitName(naming: Naming, text: string, what: 'tool' | 'prompt'): { entry: ServerEntry; name: string } {
  if (naming.scope !== undefined) return { entry: findServer(naming, naming.scope), name: text };
  const split = splitToolName(text);
  const entry = split && mayUseServer(naming.patterns, split.alias) ? naming.registry.find(split.alias) : undefined;
  if (split === undefined || entry === undefined) throw unknown(text, what);
  return { entry, name: split.name };
}

export const unknown = (text: string, what: string): GatewayError =>
  refusal(`Unknown ${what}: "${text.slice(0, SHOWN)}". What this key may use is listed by ${what}s/list.`, 'name');

/** Prompts and resources of a server are for keys that may use all of it. */
export function checkWhole({ patterns }: Naming, { server }: ServerEntry, what: string): void {
  if (mayUseAll(patterns, server.alias)) return;
  throw new CallRefusal(
    'permission_denied',
    `This key may call single tools of "${server.alias}" only, and no ${what}.`,
    {
      code: -32602,
    },
  );
}

/** True for tools that the key may call and the operator offers. */
export const mayCall = ({ patterns }: Naming, { server }: ServerEntry, tool: string): boolean =>
  isOffered(server, tool) && isAllowed(patterns, server.alias, tool);

/** The tool in the current list; an unknown name reloads the list first. */
export async function findTool(naming: Naming, entry: ServerEntry, name: string) {
  const { alias } = entry.server;
  const shown = naming.scope === undefined ? joinToolName(alias, name) : name;
  if (!mayCall(naming, entry, name)) throw unknown(shown, 'tool');
  const found = (await viewOf(entry)).byName.get(name);
  if (found !== undefined) return found;
  const { value } = await entry.tools.current();
  const now = value.byName.get(name);
  if (now !== undefined) return now;
  if (value.heldBack.includes(name)) {
    const message = `The tool "${shown}" is not what the operator approved: its server has changed or added it. It can be called once the operator approves it.`;
    throw new CallRefusal('permission_denied', message, { code: -32602, param: 'name' });
  }
  throw unknown(shown, 'tool');
}

const viewOf = async (entry: ServerEntry): Promise<ToolView> =>
  entry.tools.peek() ?? (await entry.tools.current()).value;
