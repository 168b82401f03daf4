import type { GatewayAccess } from '../client-driver';

/** One run of a command line, in a folder of its own. */
export interface Run {
  readonly access: GatewayAccess;
  readonly model: string;
  readonly prompt: string;
  /** Pieces are to be shown as they come. */
  readonly stream: boolean;
  /** Where it works, and where it keeps its settings. */
  readonly folder: string;
  readonly home: string;
}

export interface Command {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** What it printed, understood. */
export interface Printed {
  readonly text: string;
  /** undefined where it shows an answer only once it is whole. */
  readonly pieces?: number;
  /** All tokens, where it tells them. */
  readonly tokens?: number;
}

/** A call that a model makes of one of the program's own tools. */
export interface OwnCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** What the model is to be told of it. */
  readonly shows: string;
}

/** An agent that people run in their terminal, as it comes from npm. */
export interface CommandLine {
  readonly name: string;
  readonly requirement: `${string}@${string}`;
  readonly api: string;
  /** Model families it can ask. */
  readonly families: readonly string[];
  /** Words that its requests hold only if they came by this API. */
  readonly mark?: string;
  /** `root`: the folder it was installed into. Settings that it reads from files are written first. */
  prepare(root: string, run: Run): Promise<Command>;
  read(output: string): Printed;
  /** Calls of its tools on `note.txt`, which says `NOTE`. */
  calls(run: Pick<Run, 'folder'>, family: string): readonly OwnCall[];
}

/** What stands in the file that the tools read. */
export const NOTE = 'The sun shines in Chur.';
export const NOTE_FILE = 'note.txt';

/** The JSON objects of an output that has one a line; other lines are left out. */
export function jsonLines(output: string): readonly Record<string, unknown>[] {
  return output.split('\n').flatMap((line) => {
    if (!line.startsWith('{')) return [];
    try {
      return [JSON.parse(line) as Record<string, unknown>];
    } catch {
      return [];
    }
  });
}
