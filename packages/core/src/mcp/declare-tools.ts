import { declareType, TYPE_BOUNDS, type TypeBounds } from './declare-type';
import { commentOf, nameOf } from './declared-text';
import type { HostedTool } from './tool-host';

/** For schemas of which all that is usual would be too long. */
const TIGHT: TypeBounds = { depth: 2, nodes: 30, literals: 8, literalCharacters: 48, commentCharacters: 60 };
const TIGHTEST: TypeBounds = { ...TIGHT, depth: 0, nodes: 1 };
const DESCRIPTION_CHARACTERS = 300;
/** A tool with a longer name isn't declared. */
const LONGEST_NAME = 256;

export interface DeclareOptions {
  /** Limit for one tool. */
  readonly toolCharacters: number;
  /** Limit of all of them; later ones are dropped. */
  readonly characters: number;
}

export interface Declared {
  /** `declare const tools: { … };` */
  readonly text: string;
  readonly left: readonly HostedTool[];
}

/** Declarations of the tools as a script calls them: `tools.server.name(args)`. Any input yields valid TypeScript. */
export function declareTools(tools: readonly HostedTool[], { toolCharacters, characters }: DeclareOptions): Declared {
  const servers = new Map<string, string[]>();
  const left: HostedTool[] = [];
  let used = 0;
  for (const tool of tools) {
    const text = declareTool(tool, toolCharacters);
    if ((used > 0 && used + text.length > characters) || tool.name.length > LONGEST_NAME) {
      left.push(tool);
      continue;
    }
    used += text.length;
    const declared = servers.get(tool.server) ?? [];
    declared.push(text);
    servers.set(tool.server, declared);
  }
  const blocks = [...servers].map(([server, declared]) => `  ${nameOf(server)}: {\n${declared.join('\n')}\n  };`);
  return { text: `declare const tools: {\n${blocks.join('\n')}\n};`, left };
}

function declareTool(tool: HostedTool, most: number): string {
  for (const bounds of [TYPE_BOUNDS, TIGHT, TIGHTEST]) {
    const text = writeTool(tool, bounds);
    if (text.length <= most) return text;
  }
  return `    ${nameOf(tool.name)}(args: Record<string, unknown>): Promise<unknown>;`;
}

function writeTool({ name, description, inputSchema, outputSchema }: HostedTool, bounds: TypeBounds): string {
  const indent = '    ';
  const comment = commentOf(description, DESCRIPTION_CHARACTERS);
  const input = declareType(inputSchema, bounds);
  const takesNothing = input === '{}' || input === 'unknown';
  const args = takesNothing ? 'args?: Record<string, unknown>' : `args: ${shift(input)}`;
  const output = outputSchema === undefined ? 'unknown' : shift(declareType(outputSchema, bounds));
  const signature = `${indent}${nameOf(name)}(${args}): Promise<${output}>;`;
  return comment === '' ? signature : `${indent}${comment}\n${signature}`;
}

/** Deeper by the indentation of a tool. */
const shift = (type: string) => type.replaceAll('\n', '\n    ');
