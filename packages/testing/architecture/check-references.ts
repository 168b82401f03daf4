import { dirname, join, normalize } from 'node:path';
import { parseSync } from 'oxc-parser';
import { isScript, isTest, type Rule, type SourceFile } from './source-file';

const PIPELINE = 'apps/gateway/src/pipeline/';
const FILE_NAME = /[\w@./-]*[\w-]\.(?:tsx?|lua|sql|md)\b/g;
/** In documents: what stands between backticks and begins with a room, a folder as well. */
const ROOM_PATH = /`((?:apps|packages|drizzle|bench|docs)\/[\w@./-]*\w)\/?`/g;

/** Links in documents that lead to another file. */
const LINK = /\]\((?![a-z]+:|#)([^)#\s]+)[^)]*\)/g;
/** The first cell of a row in the list of steps: `open-context`, but not what is called of a dialect. */
const STEP_ROW = /^\| (`[^|]*`) \|/gm;

/** Comments point at files that exist: by name, or by the end of their path. */
export const checkComments: Rule = (file, all) => {
  if (isTest(file.path) || file.path.endsWith('.md')) return [];
  return commentsOf(file)
    .flatMap((comment) => comment.match(FILE_NAME) ?? [])
    .filter((name) => !name.startsWith('.') && !exists(name, all))
    .map((name) => `a comment points at ${name}, which does not exist`);
};

/** Documents point at files and folders that exist. */
export const checkDocuments: Rule = (file, all) => {
  if (!file.path.endsWith('.md') || file.path === 'CHANGELOG.md') return [];
  const places = [...file.text.matchAll(ROOM_PATH)].map(([, place = '']) => place);
  const links = [...file.text.matchAll(LINK)].map(([, link = '']) => normalize(join(dirname(file.path), link)));
  const gone = [...places, ...links].filter(
    (place) => !all.some(({ path }) => path === place || path.startsWith(`${place}/`) || path.startsWith(`${place}.`)),
  );
  return [...gone.map((place) => `points at ${place}, which does not exist`), ...checkStepRows(file, all)];
};

/** Steps are named there as their files are. */
function checkStepRows({ path, text }: SourceFile, all: readonly SourceFile[]): readonly string[] {
  if (path !== 'docs/internals/request-path.md') return [];
  return [...text.matchAll(STEP_ROW)]
    .flatMap(([, cell = '']) => [...cell.matchAll(/`([a-z-]+)`/g)].map(([, step = '']) => step))
    .filter((step) => !all.some((file) => file.path.startsWith(PIPELINE) && file.path.endsWith(`/${step}.ts`)))
    .map((step) => `names the step ${step}, which is no file of the pipeline`);
}

function commentsOf({ path, text }: SourceFile): readonly string[] {
  if (isScript(path)) return parseSync(path, text).comments.map(({ value }) => value);
  return text.split('\n').flatMap((line) => /--(.*)$/.exec(line)?.[1] ?? []);
}

const exists = (name: string, all: readonly SourceFile[]): boolean =>
  all.some(({ path }) => path === name || path.endsWith(`/${name}`));
