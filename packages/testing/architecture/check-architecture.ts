import { checkArrows, checkCycles, checkLayers, checkProviders } from './check-imports';
import {
  checkEnvironment,
  checkEqualNames,
  checkLanguage,
  checkName,
  checkNotes,
  checkVendorNames,
} from './check-names';
import { checkPackages } from './check-packages';
import { checkComments, checkDocuments } from './check-references';
import { checkFileLength, checkFolders, checkFunctionLength } from './check-sizes';
import { checkSpawns } from './check-spawns';
import { checkSteps } from './check-steps';
import type { Rule, SourceFile } from './source-file';

/** Hold for each file, */
const FILE_RULES: readonly Rule[] = [
  ...[checkArrows, checkLayers, checkPackages, checkProviders, checkSteps],
  ...[checkFileLength, checkFunctionLength],
  ...[checkEnvironment, checkName, checkNotes, checkVendorNames],
  ...[checkComments, checkSpawns],
];
/** and for all of them together. */
const HOUSE_RULES = [checkEqualNames, checkFolders, checkCycles];

/** The house's rules as a test: one line for each violation, none when all is well. */
export function checkArchitecture(files: readonly SourceFile[]): readonly string[] {
  const scripts = files.filter(({ path }) => /\.(tsx?|lua)$/.test(path));
  const documents = files.filter(({ path }) => path.endsWith('.md'));
  const check = (file: SourceFile, rules: readonly Rule[]) =>
    rules.flatMap((rule) => rule(file, files).map((text) => `${file.path}: ${text}`));
  return [
    ...scripts.flatMap((file) => check(file, FILE_RULES)),
    ...documents.flatMap((file) => check(file, [checkDocuments])),
    ...checkLanguage(files),
    ...HOUSE_RULES.flatMap((rule) => rule(scripts)),
  ];
}
