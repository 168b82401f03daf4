import type { Lists } from '@llm0/core/keys/api-key';
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

/** True if each list of patterns allows the tool. */
export const isAllowed = (lists: Lists, alias: string, tool: string): boolean =>
  lists.every((patterns) => patterns.some((pattern) => matchesTool(pattern, joinToolName(alias, tool))));

/** True where some tool of the server may be one that each list names. */
export function mayUseServer(lists: Lists, alias: string): boolean {
  const prefix = joinToolName(alias, '');
  const mayName = (pattern: string) => {
    const star = pattern.indexOf('*');
    const head = star === -1 ? pattern : pattern.slice(0, star);
    return head.startsWith(prefix) || (star !== -1 && prefix.startsWith(head));
  };
  return lists.every((patterns) => patterns.some(mayName));
}

/** Prompts and resources need access to the whole server. */
export const mayUseAll = (lists: Lists, alias: string): boolean =>
  lists.every((patterns) =>
    patterns.some((pattern) => pattern.endsWith('*') && matchesTool(pattern, joinToolName(alias, ''))),
  );
