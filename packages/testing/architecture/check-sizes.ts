import { dirname } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { isScript, isTest, type Rule, type SourceFile } from './source-file';

const MAX_FILE_LINES = 300;
const MAX_DATA_LINES = 400;
const MAX_TEST_LINES = 1_000;
const MAX_FUNCTION_LINES = 60;
const MAX_FOLDER_FILES = 22;

export const checkFileLength: Rule = ({ path, text }) => {
  const isData = /^drizzle\/schema\/|\/data\//.test(path);
  const limit = isTest(path) ? MAX_TEST_LINES : isData ? MAX_DATA_LINES : MAX_FILE_LINES;
  const count = text.split('\n').length - 1;
  return count > limit ? [`${count} lines, ${limit} are allowed`] : [];
};

interface FunctionNode {
  readonly start: number;
  readonly end: number;
  readonly id?: { readonly name: string } | null;
}

/** A function's lines are those from its first to its last, functions inside it included. */
export const checkFunctionLength: Rule = ({ path, text }) => {
  if (isTest(path) || !isScript(path) || text.split('\n').length <= MAX_FUNCTION_LINES) return [];
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) return [`cannot be parsed: ${errors[0]?.message}`];
  const found: string[] = [];
  const check = ({ start, end, id }: FunctionNode) => {
    const count = text.slice(start, end).split('\n').length;
    if (count <= MAX_FUNCTION_LINES) return;
    const line = text.slice(0, start).split('\n').length;
    found.push(`${id?.name ?? 'the function'} in line ${line} has ${count} lines, ${MAX_FUNCTION_LINES} are allowed`);
  };
  new Visitor({
    FunctionDeclaration: check,
    FunctionExpression: check,
    ArrowFunctionExpression: check,
  }).visit(program);
  return found;
};

export function checkFolders(all: readonly SourceFile[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { path } of all) {
    if (!isTest(path)) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > MAX_FOLDER_FILES)
    .map(([folder, count]) => `${folder}: ${count} product files in one folder, ${MAX_FOLDER_FILES} are allowed`);
}
