import { parseArgs } from 'node:util';

export const USAGE = `bun run test [path …] [--all] [--unit] [--watch] [--name pattern] [--workers n]

Sets up what the chosen files need (worked out from what they import), runs them, ends with \`N passed, N failed\`.

  (nothing)          types, lint, and every test file but the nightly ones
  --all              the nightly files too (*.nightly.test.ts; *.measure.nightly.test.ts one after the other), and every exhaustive loop
  path               files whose path contains it, or the file or folder itself (./…); no types, no lint;
                     a path of nightly files alone runs them
  --unit             only files that need no server: nothing they import reads a store's address or starts a process
  --watch            unit tests (of the paths); then those that load a file, whenever it changes, until Ctrl-C
  --name pattern     only tests with a name that matches
  --workers n        processes side by side (twice the cores, unit tests: the cores; at most 6)
  bun run test:unit = --unit, bun run test:watch = --watch
  TEST_REDIS_URL, TEST_DATABASE_URL, CHROMIUM_PATH: used instead of servers and a browser of its own
  TEST_SEED: repeats a property test that printed its seed`;

export interface TestOptions {
  readonly paths: readonly string[];
  readonly all: boolean;
  readonly unitOnly: boolean;
  readonly watch: boolean;
  readonly name: string | undefined;
  readonly workers: number | undefined;
  readonly help: boolean;
}

/** Throws an `Error` whose message says what is wrong. */
export function readTestOptions(args: readonly string[]): TestOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      all: { type: 'boolean', default: false },
      unit: { type: 'boolean', default: false },
      watch: { type: 'boolean', default: false },
      name: { type: 'string', short: 't' },
      workers: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const workers = values.workers === undefined ? undefined : Number(values.workers);
  if (workers !== undefined && !(Number.isInteger(workers) && workers >= 1 && workers <= 64))
    throw new Error(`--workers ${values.workers}: a whole number from 1 to 64 is needed`);
  return {
    paths: positionals,
    all: values.all,
    unitOnly: values.unit || values.watch,
    watch: values.watch,
    name: values.name,
    workers,
    help: values.help,
  };
}
