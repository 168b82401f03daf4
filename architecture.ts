import { dirname, join, normalize } from 'node:path';

export interface SourceFile {
  /** From the repository's root, e.g. `packages/core/src/chat/event.ts`. */
  readonly path: string;
  readonly text: string;
}

type Rule = (file: SourceFile, all: readonly SourceFile[]) => readonly string[];

/** The house's rules as a test: one line for each violation, none when all is well. */
export function checkArchitecture(files: readonly SourceFile[]): readonly string[] {
  const single = files.flatMap((file) =>
    RULES.flatMap((rule) => rule(file, files).map((text) => `${file.path}: ${text}`)),
  );
  return [...single, ...checkEqualNames(files)];
}

const isTest = (path: string) => /(\.(test|cases|fixture)\.tsx?$|\/testing\/|__fixtures__)/.test(path);

/** A room and what it may import from other rooms; the first whose prefix fits counts. Its own prefix is always allowed. */
const ROOMS: readonly { readonly prefix: string; readonly may: readonly string[] }[] = [
  { prefix: 'packages/core/', may: [] },
  { prefix: 'packages/providers/', may: ['packages/core/'] },
  { prefix: 'packages/testing/', may: ['apps/', 'packages/', 'drizzle/', 'bench/'] },
  { prefix: 'drizzle/', may: ['packages/core/'] },
  { prefix: 'apps/gateway/src/dialects/', may: ['packages/core/', 'packages/providers/src/'] },
  {
    prefix: 'apps/gateway/src/pipeline/',
    may: [
      'packages/core/',
      'packages/providers/src/provider',
      'packages/providers/src/transport/call-',
      'apps/gateway/src/dialects/dialect',
      'apps/gateway/src/',
    ],
  },
  {
    prefix: 'apps/gateway/src/admin/',
    may: ['packages/core/', 'packages/providers/', 'drizzle/', 'apps/gateway/src/'],
  },
  { prefix: 'apps/gateway/src/jobs/', may: ['packages/core/', 'drizzle/'] },
  { prefix: 'apps/gateway/', may: ['packages/', 'drizzle/'] },
  { prefix: 'apps/dashboard/', may: ['apps/gateway/src/admin/', 'packages/core/'] },
  { prefix: 'bench/', may: ['packages/', 'apps/gateway/', 'drizzle/'] },
];

/**
 * Allowed by the room's list, yet not meant: another room beside it inside the gateway. The heads that answer on their own
 * (`handle-*`, the admin API's entry) may name the dialect whose envelope they use.
 */
const CLOSED: readonly { readonly from: string; readonly to: RegExp }[] = [
  { from: 'apps/gateway/src/pipeline/', to: /^apps\/gateway\/src\/(admin|jobs|dialects\/[^/]+\/(?!index$))/ },
  {
    from: 'apps/gateway/src/admin/',
    to: /^apps\/gateway\/src\/(jobs|pipeline\/(?!exchange\/respond-error$)|dialects\/[^/]+\/(?!index$))/,
  },
  { from: 'packages/providers/', to: /^apps\// },
];

const WORKSPACES: Readonly<Record<string, string>> = {
  '@llm0/core/data/': 'packages/core/data/',
  '@llm0/core/': 'packages/core/src/',
  '@llm0/providers/': 'packages/providers/src/',
  '@llm0/testing/': 'packages/testing/',
  '@llm0/gateway/': 'apps/gateway/src/',
  '@llm0/drizzle/': 'drizzle/',
};

/** Imports of types only: they shape nothing at run time. */
const TYPE_IMPORT =
  /\bimport\s+(?:type\s+\{[^}]*\}|\{\s*(?:type\s+\w+(?:\s+as\s+\w+)?\s*,?\s*)+\})\s+from\s+['"][^'"]+['"]/g;

function importsOf(file: SourceFile): readonly string[] {
  const specifiers = [...file.text.matchAll(/(?:\bfrom\s+|\bimport\s+|\bimport\(\s*)(['"])([^'"\n]+)\1/g)].map(
    (m) => m[2] ?? '',
  );
  return specifiers.flatMap((specifier) => {
    if (specifier.startsWith('.')) return [normalize(join(dirname(file.path), specifier))];
    const workspace = Object.keys(WORKSPACES).find((prefix) => specifier.startsWith(prefix));
    return workspace === undefined ? [] : [(WORKSPACES[workspace] ?? '') + specifier.slice(workspace.length)];
  });
}

const checkArrows: Rule = (file) => {
  if (isTest(file.path)) return [];
  const room = ROOMS.find(({ prefix }) => file.path.startsWith(prefix));
  if (room === undefined) return [];
  return importsOf(file)
    .filter((target) => {
      if (CLOSED.some(({ from, to }) => file.path.startsWith(from) && to.test(target))) return true;
      return ![room.prefix, ...room.may].some((prefix) => target.startsWith(prefix));
    })
    .map((target) => `may not import ${target}`);
};

/** They speak another provider's wire format, and so build on it: the compatible clouds, and the one that is built in. */
const BUILDS_ON_OTHERS: ReadonlySet<string> = new Set(['openai-compatible', 'demo']);
/** Folders beside the vendors' that all of them may use; `claude` is what two vendors of the same models share. */
const SHARED_BY_PROVIDERS: ReadonlySet<string> = new Set(['transport', 'translation', 'claude']);

/** Providers are strangers to each other. */
const checkProviders: Rule = (file) => {
  const own = /^packages\/providers\/src\/([^/]+)\//.exec(file.path)?.[1];
  if (own === undefined || BUILDS_ON_OTHERS.has(own) || isTest(file.path)) return [];
  return importsOf(file)
    .filter((target) => {
      const other = /^packages\/providers\/src\/([^/]+)\//.exec(target)?.[1];
      return other !== undefined && other !== own && !SHARED_BY_PROVIDERS.has(other);
    })
    .map((target) => `a provider may not import another: may not import ${target}`);
};

/** A pipeline step is a file whose main function bears its name; only `handle-*` and produce-answer call other steps. */
const checkSteps: Rule = (file, all) => {
  const prefix = 'apps/gateway/src/pipeline/';
  if (!file.path.startsWith(prefix) || isTest(file.path)) return [];
  const name = file.path.slice(prefix.length);
  if (/^handle-|^produce-answer|^open-exchange/.test(name)) return [];
  const values = file.text.replace(TYPE_IMPORT, '');
  return [...values.matchAll(/\bimport\s+\{([^}]*)\}\s+from\s+['"]\.\/([^'"]+)['"]/g)].flatMap(
    ([, names = '', step = '']) => {
      const main = step.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
      const imported = names.split(',').map((part) => part.trim().split(/\s+/)[0]);
      const isStep = all.some((other) => other.path === `${prefix}${step}.ts`) && STEPS.has(step);
      return isStep && imported.includes(main) ? [`a step imports another step: ${step}`] : [];
    },
  );
};
const STEPS: ReadonlySet<string> = new Set([
  'open-exchange',
  'authenticate',
  'read-request',
  'resolve-route',
  'admit',
  'produce-answer',
  'call-upstream',
  'meter',
  'respond',
]);

const checkLength: Rule = ({ path, text }) => {
  const limit = isTest(path) ? 1_000 : /^drizzle\/schema\/|\/data\//.test(path) ? 400 : 300;
  const count = text.split('\n').length - 1;
  return count > limit ? [`${count} lines, ${limit} are allowed`] : [];
};

/** Who may read the environment: the config, and what stands around the program. */
const ENVIRONMENT_READERS =
  /^(apps\/gateway\/src\/(config\/config|main)\.ts|apps\/gateway\/bin\/|packages\/testing\/|bench\/|[^/]+$)/;
const checkEnvironment: Rule = ({ path, text }) =>
  !ENVIRONMENT_READERS.test(path) && !isTest(path) && /\b(process|Bun)\.env\b/.test(text)
    ? ['process.env is read outside config.ts']
    : [];

const checkName: Rule = ({ path }) => {
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.(d\.)?tsx?$/, '');
  if (/^(utils?|helpers?|common|managers?|types?|misc)$/.test(name)) return [`${name} is no name for a file`];
  return /^[a-z0-9]+(?:[-.][a-z0-9]+)*$/.test(name) ? [] : ['file names are kebab-case'];
};

const NOTE = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X'].join('|')})\\b`);
const checkNotes: Rule = ({ text }) => (NOTE.test(text) ? ['a note to oneself was left in'] : []);

/** Vendors' names are data (prices, chains, config) everywhere but in their own folders. */
const checkVendorNames: Rule = (file, all) => {
  if (!/^(packages\/core\/src|apps\/gateway\/src\/pipeline)\//.test(file.path) || isTest(file.path)) return [];
  const names = new Set(
    all.flatMap(({ path }) => /^packages\/providers\/src\/([^/]+)\/index\.ts$/.exec(path)?.[1] ?? []),
  );
  const code = file.text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[^:'"])\/\/.*$/gm, '$1');
  return [...names]
    .filter((name) => new RegExp(`['"\`]${name}['"\`/]`).test(code))
    .map((name) => `names a provider: ${name}`);
};

const RULES: readonly Rule[] = [
  checkArrows,
  checkProviders,
  checkSteps,
  checkLength,
  checkEnvironment,
  checkName,
  checkNotes,
  checkVendorNames,
];

/** Files that only some providers or dialects need. */
const EXTRA_PARTS = new Set([
  'quirks.ts',
  'embeddings.ts',
  'encode-messages.ts',
  'encode-tools.ts',
  'encode-blocks.ts',
  'encode-count.ts',
  'encode-models.ts',
  'gather-blocks.ts',
  'event-writer.ts',
  'keep-answers.ts',
  'open-items.ts',
  'output-items.ts',
  'write-items.ts',
  'seal-reasoning.ts',
  'encode-media.ts',
  'encode-reasoning.ts',
  'encode-response-format.ts',
  'encode-schema.ts',
  'decode-logprobs.ts',
  'decode-models.ts',
]);
const FULL_FOLDER = 'encode-request.ts';

/** Folders of one kind look alike: what one full provider (or dialect) has, all have. */
function checkEqualNames(files: readonly SourceFile[]): readonly string[] {
  return [
    ...compareFolders(files, /^packages\/providers\/src\/([^/]+)\/([^/]+\.ts)$/, FULL_FOLDER),
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
    if (having.length === full.length) return [];
    return [`${name} is in ${having.join(', ')} only: folders of one kind have the same files`];
  });
}
