import { isBuiltin } from 'node:module';
import { isTest, type Rule } from './source-file';

const CHECKED = /^(packages\/(?:core|providers)|apps\/gateway|drizzle)\/.*\.ts$/;
const KINDS = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'];
const transpiler = new Bun.Transpiler({ loader: 'ts' });

/**
 * Packages are imported by those that declare them, although all of them lie in one folder. Biome's rule of this name
 * takes a third of its CPU.
 */
export const checkPackages: Rule = (file, all) => {
  const [, home] = CHECKED.exec(file.path) ?? [];
  if (home === undefined || isTest(file.path)) return [];
  const text = all.find(({ path }) => path === `${home}/package.json`)?.text;
  if (text === undefined) return [];
  const manifest = JSON.parse(text);
  const declared = new Set([manifest.name, ...KINDS.flatMap((kind) => Object.keys(manifest[kind] ?? {}))]);
  return transpiler
    .scanImports(file.text)
    .map(({ path }) => /^(?:@[^/]+\/)?[^/.:][^/:]*(?=\/|$)/.exec(path)?.[0])
    .filter((name) => name !== undefined && name !== 'bun' && !isBuiltin(name) && !declared.has(name))
    .map((name) => `imports ${name}, which ${home}/package.json does not declare`);
};
