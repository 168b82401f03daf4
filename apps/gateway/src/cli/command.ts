import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { AdminClient, ClientAnswer } from './admin-client';
import type { Column } from './format-table';

/**
 * Converts an option's text to a field. Money stays text, so it stays exact. A project's id or name becomes
 * `project_id`. `--no-…` resets a flag; a switch has no opposite.
 */
export type OptionKind = 'text' | 'number' | 'usd' | 'flag' | 'switch' | 'list' | 'labels' | 'json' | 'project';

export interface CommandOption {
  readonly kind: OptionKind;
  readonly help: string;
  /** One letter: `f` for `-f`. */
  readonly short?: string;
}

export interface CommandInput {
  readonly api: AdminClient;
  /** Positional arguments by name; a missing one has ended the command before. */
  readonly args: Readonly<Record<string, string>>;
  /** Options that were given, as fields of the API (`--monthly-cap-usd` → `monthly_cap_usd`); `none` is null. */
  readonly fields: JsonObject;
  readonly output: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Asks a person; undefined without an answer. */
  ask(question: string): Promise<string | undefined>;
}

/** Prints tables for people, or the API's own JSON with `--json`. */
export interface Output {
  /** `text` is the original answer. */
  list(text: string, rows: readonly JsonValue[], columns: readonly Column[]): void;
  item(text: string, item: JsonValue): void;
  /** Prints a file unchanged. */
  raw(text: string): void;
  /** Part of a file. */
  write(part: Uint8Array): Promise<void>;
  /** For people only. */
  note(text: string): void;
}

export interface Command {
  /** Nouns and verb, or a noun alone. */
  readonly name: string;
  readonly summary: string;
  /** Names of positional arguments, all needed; each may be given as an option of that name instead. */
  readonly args?: readonly string[];
  readonly options?: Readonly<Record<string, CommandOption>>;
  /** Asks the API; an answer without a body (a deletion) is not shown. */
  run(input: CommandInput): Promise<ClientAnswer | undefined>;
  /** Shows the answer as a table of its rows; without it as one thing. */
  readonly columns?: readonly Column[];
  /** Selects the part of the answer to print; by default its `data` or everything. */
  readonly shown?: (body: JsonObject) => JsonValue | readonly JsonValue[];
  /** Text for people after the answer. */
  readonly note?: (body: JsonObject, input: CommandInput) => string | undefined;
  /** Exit code 1 although the API answered. */
  readonly hasFailed?: (body: JsonObject) => boolean;
  /** Exit code 2 although nothing failed: something is left to do. */
  readonly isPending?: (body: JsonObject) => boolean;
}

/** A command that works on the stores themselves, not through a gateway. */
export interface LocalCommand extends Pick<Command, 'name' | 'summary' | 'args' | 'options'> {
  /** Resolves to the value for `--json`; prints for people by `say`. */
  runHere(input: LocalInput): Promise<JsonObject>;
}

export interface LocalInput extends Pick<CommandInput, 'args' | 'fields' | 'env'> {
  /** A line for people: to the output. */
  say(line: string): void;
  /** A line for people that is no result. */
  note(line: string): void;
}

/** A command line that can't be understood: exit code 2. */
export class UsageError extends Error {}

/** The same in all commands; `--project-id` works as well. */
export const PROJECT: CommandOption = { kind: 'project', help: 'only this project (id or name)' };

export const PAGE: Readonly<Record<string, CommandOption>> = {
  limit: { kind: 'number', help: 'rows to list (50)' },
  cursor: { kind: 'text', help: 'next_cursor of the previous page' },
};
