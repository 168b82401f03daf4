import { isTest, type Rule, type SourceFile } from './source-file';

/** Who may read the environment: the config, starts of child processes, and what stands around the program. */
const ENVIRONMENT_READERS =
  /^(apps\/gateway\/src\/(config\/config|main|mcp\/stdio\/guard)\.ts|apps\/gateway\/bin\/|drizzle\/embedded\/start-embedded-postgres\.ts|packages\/testing\/|bench\/|[^/]+$)/;

const READS_ENVIRONMENT =
  /\b(process|Bun|import\.meta)\.env\b|\{[^{}]*\benv\b[^{}]*\}\s*(=\s*(process|Bun)\b|from\s+['"](node:)?(process|bun)['"])/;

export const checkEnvironment: Rule = ({ path, text }) =>
  !ENVIRONMENT_READERS.test(path) && !isTest(path) && READS_ENVIRONMENT.test(text)
    ? ['process.env is read outside config.ts']
    : [];

/** Whatever else there is would pass by all other rules. */
export const checkLanguage = (all: readonly SourceFile[]): readonly string[] =>
  all
    .filter(({ path }) => /\.([cm]?jsx?|[cm]ts)$/.test(path) && !path.startsWith('apps/dashboard/public/'))
    .map(({ path }) => `${path}: code is TypeScript, in .ts and .tsx`);

export const checkName: Rule = ({ path }) => {
  if (!/\.tsx?$/.test(path)) return [];
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.(d\.)?tsx?$/, '');
  if (/^(utils?|helpers?|common|managers?|types?|misc)$/.test(name)) return [`${name} is no name for a file`];
  return /^[a-z0-9]+(?:[-.][a-z0-9]+)*$/.test(name) ? [] : ['file names are kebab-case'];
};

const NOTE = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X'].join('|')})\\b`);
export const checkNotes: Rule = ({ text }) => (NOTE.test(text) ? ['a note to oneself was left in'] : []);

/** Vendors' names are data (prices, chains, config) everywhere but in their own folders. */
export const checkVendorNames: Rule = (file, all) => {
  if (!/^(packages\/core\/src|apps\/gateway\/src\/pipeline)\//.test(file.path) || isTest(file.path)) return [];
  const names = new Set(
    all.flatMap(({ path }) => /^packages\/providers\/src\/([^/]+)\/index\.ts$/.exec(path)?.[1] ?? []),
  );
  const code = file.text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"])\/\/.*$/gm, '$1');
  return [...names]
    .filter((name) => new RegExp(`['"\`]${name}['"\`/]`).test(code))
    .map((name) => `names a provider: ${name}`);
};

/** Files that only some providers or dialects need. */
const EXTRA_PARTS = new Set([
  ...['quirks.ts', 'embeddings.ts', 'encode-messages.ts', 'encode-tools.ts', 'encode-blocks.ts', 'encode-count.ts'],
  ...[
    'encode-models.ts',
    'gather-blocks.ts',
    'event-writer.ts',
    'store-responses.ts',
    'open-items.ts',
    'output-items.ts',
  ],
  ...[
    'write-items.ts',
    'seal-reasoning.ts',
    'batches.ts',
    'encode-media.ts',
    'encode-reasoning.ts',
    'encode-response-format.ts',
  ],
  ...['encode-schema.ts', 'decode-logprobs.ts', 'decode-models.ts', 'namespaces.ts', 'native-thought.ts'],
]);

/** Folders of one kind look alike: what one full provider (or dialect) has, all have. */
export function checkEqualNames(files: readonly SourceFile[]): readonly string[] {
  return [
    ...compareFolders(files, /^packages\/providers\/src\/([^/]+)\/([^/]+\.ts)$/, 'encode-request.ts'),
    ...compareFolders(files, /^apps\/gateway\/src\/dialects\/([^/]+)\/([^/]+\.ts)$/, 'decode-request.ts'),
  ];
}

function compareFolders(files: readonly SourceFile[], pattern: RegExp, mark: string): readonly string[] {
  const folders = new Map<string, Set<string>>();
  for (const { path } of files) {
    const [, folder, name] = pattern.exec(path) ?? [];
    if (folder === undefined || name === undefined || isTest(path) || EXTRA_PARTS.has(name)) continue;
    folders.set(folder, (folders.get(folder) ?? new Set()).add(name));
  }
  const full = [...folders].filter(([, names]) => names.has(mark));
  const every = new Set(full.flatMap(([, names]) => [...names]));
  return [...every].flatMap((name) => {
    const having = full.filter(([, names]) => names.has(name)).map(([folder]) => folder);
    const missing = full.filter(([, names]) => !names.has(name)).map(([folder]) => folder);
    if (missing.length === 0) return [];
    const where = `${having.join(', ')}, but not in ${missing.join(', ')}`;
    return [`${name} is in ${where}: folders of one kind have the same files`];
  });
}
