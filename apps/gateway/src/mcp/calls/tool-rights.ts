import type { McpServer } from '@llm0/core/mcp/server';
import { joinToolName, matchesTool } from '@llm0/core/mcp/tool-name';

const isNamed = (patterns: readonly string[], alias: string, tool: string): boolean =>
  patterns.some((pattern) => matchesTool(pattern, tool) || matchesTool(pattern, joinToolName(alias, tool)));

/** True for tools that the operator offers. */
export function isOffered(
  { alias, allowedTools, blockedTools }: Pick<McpServer, 'alias' | 'allowedTools' | 'blockedTools'>,
  tool: string,
): boolean {
  if (isNamed(blockedTools, alias, tool)) return false;
  return allowedTools === null || isNamed(allowedTools, alias, tool);
}

/** True if the patterns allow the tool. */
export const isAllowed = (patterns: readonly string[], alias: string, tool: string): boolean =>
  patterns.some((pattern) => matchesTool(pattern, joinToolName(alias, tool)));

/** True where some tool of the server may be one that the patterns name. */
export function mayUseServer(patterns: readonly string[], alias: string): boolean {
  const prefix = joinToolName(alias, '');
  return patterns.some((pattern) => {
    const star = pattern.indexOf('*');
    const head = star === -1 ? pattern : pattern.slice(0, star);
    return head.startsWith(prefix) || (star !== -1 && prefix.startsWith(head));
  });
}

/** Prompts and resources need access to the whole server. */
export const mayUseAll = (patterns: readonly string[], alias: string): boolean =>
  patterns.some((pattern) => pattern.endsWith('*') && matchesTool(pattern, joinToolName(alias, '')));
