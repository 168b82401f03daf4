import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { parseLabels } from '@llm0/core/keys/parse-labels';
import { InvalidArgumentError, Option, Command as Program } from 'commander';
import { type Command, type LocalCommand, type OptionKind, UsageError } from './command';

type AnyCommand = Command | LocalCommand;

export interface CommandLine {
  readonly args: Readonly<Record<string, string>>;
  readonly fields: JsonObject;
  readonly json: boolean;
}

const TAIL = `
Environment: ADMIN_TOKEN, and the gateway's own PORT, HOST, TLS_ENABLED, ADMIN_PORT, ADMIN_HOST; or LLM0_URL
Exit codes: 0 done, 1 refused, failed or not even, 2 wrong usage, or changes to make (plan). "none" takes a limit away.`;

export interface ProgramOptions {
  readonly version: string;
  readonly commands: readonly AnyCommand[];
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Gets the one that was called. */
  run(command: AnyCommand, line: CommandLine): Promise<void>;
}

/** The command line of all commands; throws `CommanderError` instead of leaving the process. */
export function buildProgram({ commands, version, run, out, err }: ProgramOptions): Program {
  const program = new Program('bun run llm0').exitOverride().helpCommand(false);
  // Set before adding commands, which inherit it.
  program.configureOutput({ writeOut: (text) => out(text.trimEnd()), writeErr: (text) => err(text.trimEnd()) });
  program.version(version, '-V, --version', 'print the version and end');
  program.option('--json', "the API's own JSON, for scripts").addHelpText('after', TAIL);
  program.configureHelp({
    // Nouns list their verbs; the program lists all of them.
    visibleCommands: (shown) => leavesOf(shown),
    subcommandTerm: (leaf) => usageOf(leaf),
    optionTerm: (option) => option.flags.replace(/^--no-/, '--[no-]'),
    showGlobalOptions: true,
  });
  for (const command of commands) addCommand(program, command, run);
  return program;
}

const leavesOf = (program: Program): Program[] =>
  program.commands.flatMap((one) => [...(isLeaf(one) ? [one] : []), ...leavesOf(one)]);

const isLeaf = (program: Program): boolean => program.summary() !== '';

const usageOf = (leaf: Program): string =>
  [...pathOf(leaf), leaf.usage().replace(/ ?\[options\]$/, '')].filter((part) => part !== '').join(' ');

/** Its nouns and its verb, without the program's own name. */
const pathOf = (leaf: Program): string[] => (leaf.parent === null ? [] : [...pathOf(leaf.parent), leaf.name()]);

function addCommand(program: Program, command: AnyCommand, run: ProgramOptions['run']): void {
  const nounOf = (parent: Program, noun: string) =>
    parent.commands.find((one) => one.name() === noun) ?? parent.command(noun).helpCommand(false);
  const words = command.name.split(' ');
  const leaf =
    words.length === 1
      ? nounOf(program, command.name)
      : words
          .slice(0, -1)
          .reduce(nounOf, program)
          .command(words.at(-1) ?? '');
  const names = command.args ?? [];
  leaf.summary(command.summary).description(command.summary);
  leaf.usage([...names.map((name) => `<${name}>`), '[options]'].join(' '));
  for (const name of names) {
    leaf.argument(`[${name}]`);
    leaf.addOption(new Option(`--${name} <${name}>`).hideHelp());
  }
  for (const [name, { kind, help, short }] of Object.entries(command.options ?? {})) {
    if (kind === 'project') leaf.addOption(valueOption(`--${name}-id <id>`, kind).hideHelp());
    if (kind === 'switch') leaf.addOption(new Option(`--${name}`, help));
    else if (kind === 'flag') {
      leaf.addOption(new Option(`--${name}`).hideHelp());
      leaf.addOption(new Option(`--no-${name}`, help).default(undefined));
    } else {
      const flags = `--${name} <${kind}>`;
      leaf.addOption(valueOption(short === undefined ? flags : `-${short}, ${flags}`, kind, help));
    }
  }
  leaf.action(() => run(command, readLine(leaf, command)));
}

const valueOption = (flags: string, kind: Exclude<OptionKind, 'flag' | 'switch'>, help?: string): Option =>
  new Option(flags, help).argParser((text): Given => ({ value: READERS[kind](text) }));

/** Names in the API have underlines where options have dashes. */
function readLine(leaf: Program, command: AnyCommand): CommandLine {
  const options: Record<string, Given | string | boolean | undefined> = leaf.optsWithGlobals();
  const given = (name: string) => options[new Option(`--${name}`).attributeName()];
  const positionals = [...leaf.args];
  const args: Record<string, string> = {};
  for (const name of command.args ?? []) {
    const value = given(name) ?? positionals.shift();
    if (typeof value !== 'string' || value === '') throw new UsageError(`<${name}> is missing`);
    args[name] = value;
  }
  if (positionals.length > 0) throw new UsageError(`unexpected argument "${positionals[0]}"`);
  const fields: JsonObject = {};
  for (const [name, { kind }] of Object.entries(command.options ?? {})) {
    const value = given(name) ?? (kind === 'project' ? given(`${name}-id`) : undefined);
    if (value !== undefined) fields[name.replaceAll('-', '_')] = typeof value === 'object' ? value.value : value;
  }
  return { args, fields, json: options.json === true };
}

/** Wrapped, since the parser takes a bare null for a missing value. */
interface Given {
  readonly value: JsonValue;
}

const orNull =
  (read: (text: string) => JsonValue) =>
  (text: string): JsonValue =>
    text === 'none' || text === 'null' ? null : read(text);

const asText = orNull((text) => text);

const READERS = {
  text: asText,
  usd: asText,
  project: asText,
  list: orNull((text) => (text.trim() === '' ? [] : text.split(',').map((part) => part.trim()))),
  labels: orNull((text) => {
    const labels = parseLabels(text);
    if (labels === undefined) throw new InvalidArgumentError('It must be such as team=search,env=prod.');
    return labels;
  }),
  number: orNull((text) => {
    if (text.trim() === '' || !Number.isFinite(Number(text))) throw new InvalidArgumentError('It must be a number.');
    return Number(text);
  }),
  json: (text) => {
    try {
      return JSON.parse(text) as JsonValue;
    } catch {
      throw new InvalidArgumentError('It must be JSON.');
    }
  },
} as const satisfies Record<Exclude<OptionKind, 'flag' | 'switch'>, (text: string) => JsonValue>;
