import { type Declared, declareTools } from '@llm0/core/mcp/declare-tools';
import { plainLine } from '@llm0/core/mcp/declared-text';
import { type HostedTool, ToolCallError, type ToolHost } from '@llm0/core/mcp/tool-host';
import type { ToolSearch } from '@llm0/core/mcp/tool-search';
import { z } from 'zod';
import type { CodeModeCall, CodeModeResult } from './code-mode-call';
import { type ExecuteDeps, executeCode } from './execute-code';

/** A tool as `tools/list` shows it. */
export interface CodeModeTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly annotations: Readonly<Record<string, boolean>>;
}

export interface CodeModeDeps extends ExecuteDeps {
  readonly search: ToolSearch;
}

/** Tools of `/mcp/code`. `call` throws `ToolCallError` with a JSON-RPC code for an invalid call. */
export interface CodeModeTools {
  list(): readonly CodeModeTool[];
  call(name: string, args: unknown, call: CodeModeCall): Promise<CodeModeResult>;
}

/** JSON-RPC: invalid params, which MCP asks for also where the tool is unknown. */
const INVALID_PARAMS = -32602;

const MAX_CODE_CHARACTERS = 200_000;
const MAX_QUERY_CHARACTERS = 500;
const USUAL_FOUND = 5;
const MOST_FOUND = 20;
/** Budget of declarations for each requested tool. */
const CHARACTERS_PER_TOOL = 700;
const MOST_TOOL_CHARACTERS = 1400;
const NOTICE_CHARACTERS = 300;

const INPUTS = {
  list_servers: z.strictObject({}),
  search_tools: z.strictObject({
    query: z.string().trim().min(1).max(MAX_QUERY_CHARACTERS).describe('Your task, in a few words.'),
    limit: z.int().min(1).max(MOST_FOUND).default(USUAL_FOUND).describe('Maximum number of tools.'),
  }),
  execute_code: z.strictObject({
    code: z
      .string()
      .min(1)
      .max(MAX_CODE_CHARACTERS)
      .describe('JavaScript. The result is the last expression or the returned value.'),
  }),
} as const;
type Name = keyof typeof INPUTS;

const DESCRIPTIONS: Readonly<Record<Name, readonly [title: string, description: string]>> = {
  list_servers: ['List servers', 'The servers whose tools scripts may call, with their errors.'],
  search_tools: [
    'Search tools',
    'Finds tools for a task and returns their TypeScript declarations. Call it before execute_code: it is the only way to learn what tools take.',
  ],
  execute_code: [
    'Execute code',
    [
      'Runs JavaScript in a sandbox, in which search_tools found what to call: `const issue = await tools.github.get_issue({ number: 1 })`.',
      'Call tools in parallel with Promise.all where they do not need each other. A tool that fails throws an Error.',
      'A tool without a declared result gives text as a string (JSON.parse it where it is JSON), else { content }.',
      'Return only what you need: the last expression, or what the code returns, comes back as JSON; console.log too.',
      'No network, files, imports, eval. Limits: 30 s, 16 MB, 50 calls, 64 kB of result.',
    ].join('\n'),
  ],
};

const LIST: readonly CodeModeTool[] = (Object.keys(INPUTS) as Name[]).map((name) => {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(INPUTS[name], { io: 'input' });
  const [title, description] = DESCRIPTIONS[name];
  const readOnlyHint = name !== 'execute_code';
  return { name, title, description, inputSchema, annotations: { readOnlyHint, openWorldHint: !readOnlyHint } };
});

/** Code Mode over the tools of one key. */
export function codeModeTools(host: ToolHost, deps: CodeModeDeps): CodeModeTools {
  const calls: Record<Name, (args: unknown, call: CodeModeCall) => Promise<CodeModeResult>> = {
    list_servers: async (args) => {
      readArgs('list_servers', args);
      return listServers(host);
    },
    search_tools: async (args) => searchTools(host, deps.search, readArgs('search_tools', args)),
    execute_code: async (args, call) => executeCode(host, deps, { ...readArgs('execute_code', args), ...call }),
  };
  return {
    list: () => LIST,
    call: async (name, args, call) => {
      if (!Object.hasOwn(calls, name)) {
        const known = Object.keys(calls).join(', ');
        throw new ToolCallError(`There is no tool "${plainLine(name, 100)}" here, only ${known}.`, INVALID_PARAMS);
      }
      return calls[name as Name](args, call);
    },
  };
}

/** Throws with the field at fault. */
function readArgs<N extends Name>(name: N, args: unknown): z.output<(typeof INPUTS)[N]> {
  const read = INPUTS[name].safeParse(args ?? {});
  if (read.success) return read.data as z.output<(typeof INPUTS)[N]>;
  const [issue] = read.error.issues;
  const field = issue?.path.join('.') ?? '';
  const message = `${name}: ${field === '' ? 'arguments' : `"${field}"`}: ${issue?.message ?? 'invalid'}`;
  throw new ToolCallError(message, INVALID_PARAMS);
}

async function listServers(host: ToolHost): Promise<CodeModeResult> {
  const servers = await host.listServers();
  const shown = servers.map(({ alias, description, notice }) => ({
    alias,
    description: plainLine(description, NOTICE_CHARACTERS),
    ...(notice === null ? {} : { notice: plainLine(notice, NOTICE_CHARACTERS) }),
  }));
  return textResult(JSON.stringify(shown));
}

async function searchTools(
  host: ToolHost,
  search: ToolSearch,
  { query, limit }: { readonly query: string; readonly limit: number },
): Promise<CodeModeResult> {
  const tools = await host.listTools();
  const found = await search.find(tools, { query, limit });
  if (found.length === 0) {
    return textResult(`None of ${tools.length} tools matches. Try other words; list_servers lists the servers.`);
  }
  const characters = CHARACTERS_PER_TOOL * limit;
  return textResult(showDeclared(declareTools(found, { toolCharacters: MOST_TOOL_CHARACTERS, characters })));
}

function showDeclared({ text, left }: Declared): string {
  if (left.length === 0) return text;
  const names = left.map(({ server, name }: HostedTool) => plainLine(`${server}.${name}`, 80)).join(', ');
  return `${text}\n// Found too, but not shown; search for them by name: ${names}`;
}

const textResult = (text: string): CodeModeResult => ({ content: [{ type: 'text', text }], isError: false });
