import { createResolver, importsOf, isTest, type Rule, type SourceFile } from './source-file';

const PIPELINE = 'apps/gateway/src/pipeline/';
/** Heads put steps together. The answer is produced by asking upstream, lazily; who waits is decided on again and again. */
const isHead = (path: string): boolean => /\/handle-[^/]+\.ts$/.test(path);
const MAY_CALL: ReadonlySet<string> = new Set(['produce-answer → call-upstream', 'admit-in-turn → admit']);

const nameOf = (path: string): string => /([^/]+)\.ts$/.exec(path)?.[1] ?? '';
const letters = (name: string): string => name.replaceAll('-', '').toLowerCase();

/**
 * The steps: files of the pipeline whose main function (or class) begins with the file's name and is called by a head. A
 * step takes arguments and returns values; it calls no other step.
 */
export const checkSteps: Rule = (file, all) => {
  if (!file.path.startsWith(PIPELINE) || isHead(file.path) || isTest(file.path)) return [];
  const steps = stepsOf(all);
  if (!steps.has(file.path)) return [];
  return mainImports(file, all)
    .filter((path) => steps.has(path) && !MAY_CALL.has(`${nameOf(file.path)} → ${nameOf(path)}`))
    .map((path) => `a step calls another step: ${nameOf(path)}`);
};

const known = new WeakMap<readonly SourceFile[], ReadonlySet<string>>();

function stepsOf(all: readonly SourceFile[]): ReadonlySet<string> {
  let steps = known.get(all);
  if (steps === undefined) {
    const heads = all.filter(({ path }) => path.startsWith(PIPELINE) && isHead(path));
    steps = new Set(heads.flatMap((head) => mainImports(head, all)));
    known.set(all, steps);
  }
  return steps;
}

/** Files of the pipeline of which this one imports all, or a value whose name begins with the file's. */
function mainImports(file: SourceFile, all: readonly SourceFile[]): readonly string[] {
  const resolve = createResolver(all);
  return [...file.text.matchAll(/\bimport\s+(?:\{([^}]*)\}|(?!type\b)[^'"{;]+)\s*from\s+'\.[^']+'/g)].flatMap(
    ([statement, names]) => {
      const [target = ''] = importsOf({ path: file.path, text: statement });
      const path = resolve(target)?.path;
      if (path === undefined || !path.startsWith(PIPELINE)) return [];
      const values = names?.split(',').map((name) => name.trim()) ?? [nameOf(path)];
      return values.some((value) => letters(value).startsWith(letters(nameOf(path)))) ? [path] : [];
    },
  );
}
