import type { Command } from './command';

const HEAD = `Usage: bun run llm0 <noun> <verb> [arguments] [options]

Environment: LLM0_URL (default http://127.0.0.1:8080), ADMIN_TOKEN`;
const COMMON: readonly [string, string][] = [
  ['--json', "the API's own JSON, for scripts"],
  ['--help', 'this text'],
];
const TAIL = 'Exit codes: 0 done, 1 refused, failed or not even, 2 wrong usage. "none" takes a limit away.';

/** All commands, or those of one noun. */
export function overviewHelp(commands: readonly Command[]): string {
  return [
    HEAD,
    '',
    'Commands:',
    pairs(commands.map((one) => [usage(one), one.summary])),
    '',
    pairs(COMMON),
    '',
    TAIL,
  ].join('\n');
}

export function commandHelp(command: Command): string {
  const options = Object.entries(command.options).map(([name, { kind, help }]): [string, string] => [
    kind === 'flag' ? `--[no-]${name}` : `--${name} <${kind}>`,
    help,
  ]);
  return [
    `Usage: bun run llm0 ${usage(command)} [options]`,
    '',
    command.summary,
    '',
    pairs([...options, ...COMMON]),
    '',
    TAIL,
  ].join('\n');
}

function usage(command: Command): string {
  return [command.noun, command.verb, ...command.args.map((name) => `<${name}>`)]
    .filter((part) => part !== '')
    .join(' ');
}

function pairs(lines: readonly (readonly [string, string])[]): string {
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.map(([name, help]) => `  ${name.padEnd(width)}  ${help}`).join('\n');
}
