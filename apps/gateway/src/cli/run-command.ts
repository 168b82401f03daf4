import { AdminClient } from './admin-client';
import { type Command, EXIT, type Output, UsageError } from './command';
import { DEMO_COMMANDS } from './demo-commands';
import { formatItem, formatTable } from './format-table';
import { KEY_COMMANDS } from './key-commands';
import { LIMIT_COMMANDS } from './limit-commands';
import { LOG_COMMANDS } from './log-commands';
import { MODEL_COMMANDS } from './model-commands';
import { PROJECT_COMMANDS } from './project-commands';
import { PROVIDER_COMMANDS } from './provider-commands';
import { readArguments } from './read-arguments';
import { isObject } from './read-list';
import { ROUTING_COMMANDS } from './routing-commands';
import { commandHelp, overviewHelp } from './show-help';
import { STAT_COMMANDS } from './stat-commands';

const COMMANDS: readonly Command[] = [
  ...PROJECT_COMMANDS,
  ...KEY_COMMANDS,
  ...LIMIT_COMMANDS,
  ...MODEL_COMMANDS,
  ...PROVIDER_COMMANDS,
  ...ROUTING_COMMANDS,
  ...LOG_COMMANDS,
  ...STAT_COMMANDS,
  ...DEMO_COMMANDS,
];

/** What a command line touches of the world around it. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly fetch: typeof globalThis.fetch;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

const DEFAULT_URL = 'http://127.0.0.1:8080';

/** Runs `llm0 <noun> <verb> …`; resolves to the exit code, never throws. */
export async function runCommand(argv: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await dispatch(argv, terminal);
  } catch (error) {
    terminal.err(error instanceof Error ? error.message : String(error));
    if (error instanceof UsageError) terminal.err('--help says how it is used.');
    return error instanceof UsageError ? EXIT.usage : EXIT.failed;
  }
}

async function dispatch(argv: readonly string[], terminal: Terminal): Promise<number> {
  const wantsHelp = argv.includes('--help') || argv.includes('-h');
  const [noun = '', verb = ''] = argv.filter((word) => !word.startsWith('-')).slice(0, 2);
  const named = COMMANDS.filter((command) => command.noun === noun);
  const command = named.find((one) => one.verb === verb) ?? named.find((one) => one.verb === '');
  if (noun === '' || (command === undefined && (wantsHelp || (named.length > 0 && verb === '')))) {
    terminal.out(overviewHelp(named.length > 0 ? named : COMMANDS));
    return wantsHelp ? EXIT.ok : EXIT.usage;
  }
  if (command === undefined) throw new UsageError(`there is no command "${`${noun} ${verb}`.trim()}"`);
  if (wantsHelp) {
    terminal.out(commandHelp(command));
    return EXIT.ok;
  }
  const { args, fields, json } = readArguments(command, withoutNames(argv, command));
  const api = createClient(terminal);
  return command.run({
    api,
    args,
    fields,
    output: createOutput(terminal, json),
    env: terminal.env,
    signal: terminal.signal,
  });
}

/** The words after noun and verb, whose first occurrences are taken out wherever options stand between them. */
function withoutNames(argv: readonly string[], command: Command): readonly string[] {
  const rest = [...argv];
  for (const name of [command.noun, command.verb]) {
    if (name !== '') rest.splice(rest.indexOf(name), 1);
  }
  return rest;
}

function createClient({ env, fetch }: Terminal): AdminClient {
  const token = env.ADMIN_TOKEN;
  if (token === undefined || token === '') {
    throw new UsageError("ADMIN_TOKEN is not set: it is the token printed at the gateway's first start");
  }
  return new AdminClient({ url: env.LLM0_URL || DEFAULT_URL, token, fetch });
}

function createOutput({ out, err }: Terminal, json: boolean): Output {
  if (json) return { list: (text) => out(text), item: (text) => out(text), note: () => {} };
  return {
    list: (_, rows, columns) => {
      const hasHead = columns.some((column) => column.title !== '');
      const table = formatTable(rows.filter(isObject), columns);
      out(hasHead ? table : table.replace(/^\s*\n/, ''));
    },
    item: (_, item) => out(isObject(item) ? formatItem(item) : String(item)),
    note: (text) => err(text),
  };
}
