import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { CommanderError } from 'commander';
import { AdminClient, RequestFailed } from './admin-client';
import { buildProgram, type CommandLine } from './build-program';
import { type Command, type CommandInput, type LocalCommand, type Output, UsageError } from './command';
import { COMMANDS } from './commands';
import { formatItem, formatTable } from './format-table';
import { targetOf } from './own-gateway';
import { dataOf, isObject } from './read-list';
import { resolveProject } from './resolve-name';

/** Environment of a command line. */
export interface Terminal {
  /** The package's own. */
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly fetch: typeof globalThis.fetch;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly write: Output['write'];
  readonly ask: CommandInput['ask'];
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

const EXIT = { ok: 0, failed: 1, usage: 2, pending: 2 } as const;

/** Runs `llm0 <noun> <verb> …`; resolves to the exit code, never throws. */
export async function runCommand(argv: readonly string[], terminal: Terminal): Promise<number> {
  let code: number = EXIT.ok;
  const program = buildProgram({
    ...terminal,
    commands: COMMANDS,
    run: async (command, line) => {
      code = 'runHere' in command ? await runLocal(command, line, terminal) : await runOne(command, line, terminal);
    },
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    terminal.err(error instanceof Error ? error.message : String(error));
    if (!(error instanceof UsageError)) return EXIT.failed;
    terminal.err('See --help.');
    return EXIT.usage;
  }
}

/** Runs one command; resolves to its exit code. */
async function runOne(command: Command, { args, fields, json }: CommandLine, terminal: Terminal): Promise<number> {
  const output = createOutput(terminal, json);
  const api = new AdminClient({ ...targetOf(terminal.env), fetch: terminal.fetch });
  const input: CommandInput = { api, args, fields: await withProject(api, command, fields), output, ...terminal };
  const answer = await command.run(input).catch((error: unknown) => {
    throw pointToChange(error, command, args);
  });
  const { text, body } = answer ?? { text: '', body: {} };
  if (answer !== undefined && text !== '') {
    const { columns } = command;
    if (columns === undefined) output.item(text, (command.shown?.(body) ?? body) as JsonValue);
    else output.list(text, (command.shown?.(body) ?? dataOf(body)) as readonly JsonValue[], columns);
  }
  const note = command.note?.(body, input);
  if (note !== undefined) output.note(note);
  if (command.hasFailed?.(body) ?? false) return EXIT.failed;
  return (command.isPending?.(body) ?? false) ? EXIT.pending : EXIT.ok;
}

/** Another command changes existing objects. */
function pointToChange(error: unknown, { name, args: names = [] }: Command, args: CommandInput['args']): unknown {
  if (!(error instanceof RequestFailed) || error.status !== 409) return error;
  const changing = name.replace(/ (?:create|add)$/, ' set');
  if (changing === name || !COMMANDS.some((one) => one.name === changing)) return error;
  return new RequestFailed(`${error.message}\nTo change it: llm0 ${changing} ${args[names[0] ?? ''] ?? ''} …`, 409);
}

async function runLocal(command: LocalCommand, line: CommandLine, { env, out, err }: Terminal): Promise<number> {
  const quiet = () => {};
  const { args, fields, json } = line;
  const result = await command.runHere({ args, fields, env, say: json ? quiet : out, note: json ? quiet : err });
  if (json) out(JSON.stringify(result));
  return EXIT.ok;
}

/** The project that was named, as the API's `project_id`. */
async function withProject(api: AdminClient, { options = {} }: Command, fields: JsonObject): Promise<JsonObject> {
  if (options.project?.kind !== 'project' || fields.project === undefined) return fields;
  const { project, ...rest } = fields;
  return { ...rest, project_id: typeof project === 'string' ? await resolveProject(api, project) : null };
}

function createOutput({ out, err, write }: Terminal, json: boolean): Output {
  if (json) return { list: (text) => out(text), item: (text) => out(text), raw: out, write, note: () => {} };
  return {
    raw: out,
    write,
    list: (_, rows, columns) => {
      const hasHead = columns.some((column) => column.title !== '');
      const table = formatTable(rows.filter(isObject), columns);
      out(hasHead ? table : table.replace(/^\s*\n/, ''));
    },
    item: (_, item) => out(isObject(item) ? formatItem(item) : String(item)),
    note: (text) => err(text),
  };
}
