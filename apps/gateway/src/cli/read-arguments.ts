import { parseArgs } from 'node:util';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { type Command, type OptionKind, UsageError } from './command';

export interface CommandLine {
  readonly args: Readonly<Record<string, string>>;
  readonly fields: JsonObject;
  readonly json: boolean;
}

/** Reads what follows noun and verb; throws `UsageError`. */
export function readArguments(command: Command, argv: readonly string[]): CommandLine {
  const { values, positionals } = parse(command, argv);
  const args: Record<string, string> = {};
  for (const name of command.args) {
    const given = values[name];
    const value = typeof given === 'string' ? given : positionals.shift();
    if (value === undefined || value === '') throw new UsageError(`<${name}> is missing`);
    args[name] = value;
  }
  if (positionals.length > 0) throw new UsageError(`unexpected argument "${positionals[0]}"`);
  const fields: JsonObject = {};
  for (const [name, option] of Object.entries(command.options)) {
    const given = values[name];
    if (given !== undefined) fields[name.replaceAll('-', '_')] = READERS[option.kind](given, name);
  }
  return { args, fields, json: values.json === true };
}

function parse(command: Command, argv: readonly string[]) {
  const options: Record<string, { type: 'string' | 'boolean' }> = { json: { type: 'boolean' } };
  for (const name of command.args) options[name] = { type: 'string' };
  for (const [name, { kind }] of Object.entries(command.options)) {
    options[name] = { type: kind === 'flag' ? 'boolean' : 'string' };
  }
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, allowNegative: true });
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause));
  }
}

type Given = string | boolean | (string | boolean)[];

const READERS = {
  text: (given) => orNull(String(given), (text) => text),
  usd: (given) => orNull(String(given), (text) => text),
  flag: (given) => given === true,
  list: (given) => orNull(String(given), (text) => text.split(',').map((part) => part.trim())),
  number: (given, name) =>
    orNull(String(given), (text) => {
      if (text.trim() === '' || !Number.isFinite(Number(text))) throw new UsageError(`--${name} must be a number`);
      return Number(text);
    }),
  json: (given, name) => {
    try {
      return JSON.parse(String(given)) as JsonValue;
    } catch {
      throw new UsageError(`--${name} must be JSON`);
    }
  },
} as const satisfies Record<OptionKind, (given: Given, name: string) => JsonValue>;

function orNull(text: string, read: (text: string) => JsonValue): JsonValue {
  return text === 'none' || text === 'null' ? null : read(text);
}
