// Imports nothing but what Bun ships: the test command runs before anything is installed.
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { Glob } from 'bun';
import type { Store } from '../stores/start-test-stores';

export interface PlannedFile {
  /** From the repository's root. */
  readonly path: string;
  /** Neither it nor anything it loads reads the address of a store or can start a process. */
  readonly isUnit: boolean;
  /** Its name ends in `.nightly.test.ts`: it kills, downloads, measures this machine, or repeats at many sizes. */
  readonly isNightly: boolean;
  /** Its name ends in `.measure.nightly.test.ts`: it asserts milliseconds or memory, so nothing runs beside it. */
  readonly isMeasuring: boolean;
  readonly stores: ReadonlySet<Store>;
  /** It repeats suites on each of `STORE_KINDS`, and names the kind in them. */
  readonly isOnBothKinds: boolean;
  /** Itself and all files of ours that it loads, however far away. */
  readonly loads: ReadonlySet<string>;
}

/** Who reads the variable needs the store: nothing is listed by hand. */
const STORE_READS: Readonly<Record<Store, RegExp>> = {
  redis: /\bprocess\.env\.TEST_REDIS_URL\b/,
  postgres: /\bprocess\.env\.TEST_DATABASE_URL\b/,
  template: /\bprocess\.env\.TEST_EMBEDDED_TEMPLATE\b/,
};
const STARTS_PROCESSES =
  /\bBun\.spawn|\bfrom '(?:node:)?child_process'|\bimport \{[^}]*\$[^}]*\} from 'bun'|playwright-[c]ore/;

const ON_BOTH_KINDS = /\bSTORE_KINDS\)/;
const NIGHTLY = /\.nightly\.test\.tsx?$/;
const MEASURING = /\.measure\.nightly\.test\.tsx?$/;
const SOURCE = /\.[cm]?[jt]sx?$/;

/** All that `bun test` looks for, by another way than its own. */
export function findTestFiles(root: string): readonly string[] {
  const found = [...new Glob('**/*.test.{ts,tsx}').scanSync({ cwd: root, onlyFiles: true })];
  return found.filter((path) => !path.includes('node_modules/')).sort();
}

/** Follows the imports of every test file. Imports of types only load nothing and do not count. */
export function planTests(root: string, paths: readonly string[] = findTestFiles(root)): readonly PlannedFile[] {
  const sources = new Map<string, Source>();
  const sourceOf = (path: string) => {
    const known = sources.get(path) ?? readSource(root, path);
    sources.set(path, known);
    return known;
  };
  return paths.map((path) => {
    const loads = new Set([path]);
    for (const next of loads) for (const imported of sourceOf(next).imports) loads.add(imported);
    const reached = [...loads].map(sourceOf);
    const stores = (Object.keys(STORE_READS) as Store[]).filter((store) => reached.some((one) => one.reads.has(store)));
    const isUnit = stores.length === 0 && !reached.some((one) => one.startsProcesses);
    const lane = { isNightly: NIGHTLY.test(path), isMeasuring: MEASURING.test(path) };
    const { isOnBothKinds } = sourceOf(path);
    return { path, isUnit, ...lane, stores: new Set(stores), isOnBothKinds, loads };
  });
}

/** Test files that a path of the command line means: part of their name, or the file or folder itself. All without any. */
export function choose(given: readonly string[], root: string): readonly string[] {
  const wanted = given.map((text) => (/^\.{0,2}\//.test(text) ? relative(root, resolve(text)) : text));
  return findTestFiles(root).filter((path) => wanted.length === 0 || wanted.some((part) => path.includes(part)));
}

interface Source {
  readonly imports: readonly string[];
  readonly reads: ReadonlySet<Store>;
  readonly startsProcesses: boolean;
  readonly isOnBothKinds: boolean;
}

function readSource(root: string, path: string): Source {
  const isCode = SOURCE.test(path);
  const text = isCode ? attempt(() => readFileSync(join(root, path), 'utf8'), '') : '';
  const stores = (Object.keys(STORE_READS) as Store[]).filter((store) => STORE_READS[store].test(text));
  return {
    imports: isCode ? importsOf(root, path, text) : [],
    reads: new Set(stores),
    startsProcesses: STARTS_PROCESSES.test(text),
    isOnBothKinds: ON_BOTH_KINDS.test(text),
  };
}

const scanners = { ts: new Bun.Transpiler({ loader: 'ts' }), tsx: new Bun.Transpiler({ loader: 'tsx' }) };

/** Ours only, from the root. What cannot be read or is not there is left to `bun test` to complain about. */
function importsOf(root: string, path: string, text: string): readonly string[] {
  const scanner = path.endsWith('x') ? scanners.tsx : scanners.ts;
  return attempt(() => scanner.scanImports(text), []).flatMap((one) => {
    const found = attempt(() => Bun.resolveSync(one.path, dirname(join(root, path))), '');
    const inside = relative(root, found);
    return !found.startsWith('/') || inside.startsWith('..') || inside.includes('node_modules/') ? [] : [inside];
  });
}

function attempt<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch {
    return otherwise;
  }
}
