import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { AdminClient } from './admin-client';
import type { Column } from './format-table';

/** How the text of an option becomes a field: amounts of money stay text, so that they stay exact. */
export type OptionKind = 'text' | 'number' | 'usd' | 'flag' | 'list' | 'json';

export interface CommandOption {
  readonly kind: OptionKind;
  readonly help: string;
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
}

/** Prints tables for people, or the API's own JSON with `--json`. */
export interface Output {
  /** `text` is the answer as it came. */
  list(text: string, rows: readonly JsonValue[], columns: readonly Column[]): void;
  item(text: string, item: JsonValue): void;
  /** For people only. */
  note(text: string): void;
}

export interface Command {
  readonly noun: string;
  /** '' = the noun alone. */
  readonly verb: string;
  readonly summary: string;
  /** Names of positional arguments, all needed; each may be given as an option of that name instead. */
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, CommandOption>>;
  /** Resolves to the exit code. */
  run(input: CommandInput): Promise<number>;
}

/** A command line that can't be understood: exit code 2. */
export class UsageError extends Error {}

export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;
