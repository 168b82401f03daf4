import { dirname, join, normalize } from 'node:path';

export interface SourceFile {
  /** From the repository's root, e.g. `packages/core/src/chat/event.ts`. */
  readonly path: string;
  readonly text: string;
}

/** One line for each violation, without the file's path. */
export type Rule = (file: SourceFile, all: readonly SourceFile[]) => readonly string[];

/** Tests and what only tests use; everything else is product. */
export const isTest = (path: string): boolean =>
  /(\.(test|cases|fixture)\.tsx?$|(^|\/)testing\/|__fixtures__|^[^/]+$)/.test(path);

export const isScript = (path: string): boolean => /\.tsx?$/.test(path);

const WORKSPACES: Readonly<Record<string, string>> = {
  '@llm0/core/data/': 'packages/core/data/',
  '@llm0/core/': 'packages/core/src/',
  '@llm0/providers/': 'packages/providers/src/',
  '@llm0/testing/': 'packages/testing/',
  '@llm0/gateway/': 'apps/gateway/src/',
  '@llm0/dashboard/': 'apps/dashboard/',
  '@llm0/drizzle/': 'drizzle/',
  '@llm0/bench/': 'bench/',
};

const IMPORT = /(?:\bfrom\s*|\bimport\s*|\b(?:import|require)\(\s*|\bnew URL\(\s*)(['"`])([^'"`$\n]+)\1/g;
const ENDING = /\/$|\.[cm]?[jt]sx?$/;

/** What a file imports of ours, types and workers included, without endings: `packages/core/src/chat/event`. */
export function importsOf(file: SourceFile): readonly string[] {
  if (!isScript(file.path)) return [];
  const specifiers = [...file.text.matchAll(IMPORT)].map((match) => match[2] ?? '');
  return specifiers.flatMap((whole) => {
    const specifier = whole.replace(ENDING, '');
    if (specifier.startsWith('.')) return [normalize(join(dirname(file.path), specifier))];
    const workspace = Object.keys(WORKSPACES).find((prefix) => specifier.startsWith(prefix));
    return workspace === undefined ? [] : [(WORKSPACES[workspace] ?? '') + specifier.slice(workspace.length)];
  });
}

/** The files behind imports. */
export function createResolver(all: readonly SourceFile[]): (target: string) => SourceFile | undefined {
  const byPath = new Map(all.map((file) => [file.path, file]));
  return (target) =>
    ['', '.ts', '.tsx', '/index.ts', '/index.tsx']
      .map((ending) => byPath.get(target + ending))
      .find((file) => file !== undefined);
}
