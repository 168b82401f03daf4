import { createResolver, importsOf, isTest, type Rule, type SourceFile } from './source-file';

/** A room and what it may import beside itself: all that begins so (`/`, `-`), or one file. The first whose prefix fits counts. */
const ROOMS: readonly { readonly prefix: string; readonly may: readonly string[] }[] = [
  { prefix: 'packages/core/', may: [] },
  { prefix: 'packages/providers/', may: ['packages/core/'] },
  { prefix: 'drizzle/', may: ['packages/core/'] },
  { prefix: 'apps/gateway/src/dialects/', may: ['packages/core/', 'packages/providers/src/'] },
  {
    prefix: 'apps/gateway/src/pipeline/',
    may: [
      'packages/core/',
      'packages/providers/src/provider',
      'packages/providers/src/provider-request',
      'packages/providers/src/transport/call-',
      'apps/gateway/src/dialects/dialect',
      'apps/gateway/src/services/contract',
    ],
  },
  {
    prefix: 'apps/gateway/src/admin/',
    may: ['packages/core/', 'packages/providers/', 'drizzle/', 'apps/gateway/src/'],
  },
  { prefix: 'apps/gateway/src/jobs/', may: ['packages/core/', 'drizzle/'] },
  { prefix: 'apps/gateway/src/config/', may: ['packages/core/'] },
  { prefix: 'apps/gateway/src/secrets/', may: ['packages/core/src/async/'] },
  {
    prefix: 'apps/gateway/src/sinks/',
    may: [
      ...['packages/core/', 'drizzle/', 'apps/gateway/src/config/sinks', 'apps/gateway/src/jobs/job'],
      // Spans are built, named and sent as those of traces.
      ...['apps/gateway/src/secrets/', 'apps/gateway/src/observe/telemetry/'],
    ],
  },
  {
    prefix: 'apps/gateway/src/observe/',
    may: [
      'packages/core/',
      'packages/providers/src/transport/',
      'apps/gateway/src/config/config',
      'apps/gateway/src/services/contract',
    ],
  },
  {
    prefix: 'apps/gateway/src/providers/',
    may: [
      ...['packages/core/', 'packages/providers/', 'drizzle/'],
      ...['apps/gateway/src/config/', 'apps/gateway/src/secrets/', 'apps/gateway/src/services/contract'],
    ],
  },
  { prefix: 'apps/gateway/src/threads/', may: ['packages/core/', 'drizzle/', 'apps/gateway/src/admin/stats/'] },
  {
    // Works on the stores themselves, without a gateway.
    prefix: 'apps/gateway/src/cli/local-commands.ts',
    may: [
      ...['packages/core/', 'drizzle/import-llm0/', 'apps/gateway/src/cli/'],
      ...['apps/gateway/src/config/config', 'apps/gateway/src/process/'],
    ],
  },
  {
    // Finds the gateway by the settings that it reads itself.
    prefix: 'apps/gateway/src/cli/own-gateway.ts',
    may: ['apps/gateway/src/cli/', 'apps/gateway/src/config/config'],
  },
  {
    // What a file of another program may not have is what the gateway's settings are.
    prefix: 'apps/gateway/src/cli/litellm/resolve-values.ts',
    may: ['packages/core/', 'apps/gateway/src/cli/', 'apps/gateway/src/config/own-settings'],
  },
  {
    // Asks secret managers as the gateway does.
    prefix: 'apps/gateway/src/cli/config-file/',
    may: [
      ...['packages/core/', 'apps/gateway/src/admin/', 'apps/gateway/src/cli/', 'apps/gateway/src/secrets/'],
      ...['apps/gateway/src/config/secret-managers', 'apps/gateway/src/config/values'],
    ],
  },
  { prefix: 'apps/gateway/src/cli/', may: ['packages/core/', 'apps/gateway/src/admin/'] },
  { prefix: 'apps/gateway/', may: ['packages/core/', 'packages/providers/', 'drizzle/'] },
  { prefix: 'apps/dashboard/', may: ['apps/gateway/src/admin/', 'packages/core/'] },
  { prefix: 'bench/', may: ['packages/', 'apps/gateway/', 'drizzle/'] },
];

/**
 * Allowed by the room's list, yet not meant: another room beside it inside the gateway. The heads that answer on their own
 * (the admin API's entry) may name the dialect whose envelope they use.
 */
const CLOSED: readonly { readonly from: string; readonly to: RegExp }[] = [
  {
    from: 'apps/gateway/src/admin/',
    to: /^apps\/gateway\/src\/(jobs|pipeline\/(?!request\/respond-error$)|dialects\/[^/]+\/(?!index$))/,
  },
  // The composition root passes in what services need of the pipeline.
  { from: 'apps/gateway/src/services/', to: /^apps\/gateway\/src\/(pipeline|dialects\/[^/]+)\// },
];

const PIPELINE = 'apps/gateway/src/pipeline/';
/** Folders of the pipeline, lowest first; files beside the folders come next, and the endpoints' own folders last. */
const LAYERS: readonly string[] = ['request', 'upstream', 'metering', 'guard', ''];

/** A folder of the pipeline imports lower ones only, and an endpoint imports no other endpoint. */
export const checkLayers: Rule = (file) => {
  if (!file.path.startsWith(PIPELINE) || isTest(file.path)) return [];
  const own = layerOf(file.path);
  return importsOf(file)
    .filter((target) => target.startsWith(PIPELINE) && partOf(target) !== partOf(file.path) && layerOf(target) >= own)
    .map((target) => `may not import ${target}, which is no lower layer of the pipeline`);
};

const partOf = (path: string): string => /^([^/]+)\//.exec(path.slice(PIPELINE.length))?.[1] ?? '';

function layerOf(path: string): number {
  const index = LAYERS.indexOf(partOf(path));
  return index === -1 ? LAYERS.length : index;
}

export const checkArrows: Rule = (file) => {
  if (isTest(file.path)) return [];
  const room = ROOMS.find(({ prefix }) => file.path.startsWith(prefix));
  if (room === undefined) return [];
  return importsOf(file)
    .filter((target) => {
      if (CLOSED.some(({ from, to }) => file.path.startsWith(from) && to.test(target))) return true;
      return ![room.prefix, ...room.may].some((allowed) =>
        /[/-]$/.test(allowed) ? target.startsWith(allowed) : target === allowed,
      );
    })
    .map((target) => `may not import ${target}`);
};

/** They speak other providers' wire formats, and so build on them: clouds with their models, and the one that is built in. */
const BUILDS_ON_OTHERS: ReadonlySet<string> = new Set(['openai-compatible', 'vertex', 'demo']);
/** Folders beside the vendors' that all of them may use; `claude` is what two vendors of the same models share. */
const SHARED_BY_PROVIDERS: ReadonlySet<string> = new Set(['transport', 'translation', 'billing', 'claude']);

/** Providers are strangers to each other, and what they share knows none of them. */
export const checkProviders: Rule = (file) => {
  const folderOf = (path: string) => /^packages\/providers\/src\/([^/]+)\//.exec(path)?.[1];
  const own = folderOf(file.path);
  if (own === undefined || BUILDS_ON_OTHERS.has(own) || isTest(file.path)) return [];
  return importsOf(file)
    .filter((target) => {
      const other = folderOf(target);
      return other !== undefined && other !== own && !SHARED_BY_PROVIDERS.has(other);
    })
    .map((target) => `a provider may not import another: may not import ${target}`);
};

/** Files that import each other in a circle, types included: one line for each circle, in the name of its first file. */
export function checkCycles(all: readonly SourceFile[]): readonly string[] {
  const resolve = createResolver(all);
  const edges = new Map(
    all.map((file) => [file.path, importsOf(file).flatMap((target) => resolve(target)?.path ?? [])] as const),
  );
  return stronglyConnected(edges)
    .filter((group) => group.length > 1 || edges.get(group[0] ?? '')?.includes(group[0] ?? ''))
    .map((group) => group.sort())
    .map((group) => `${group[0]}: imports itself in a circle: ${group.join(', ')}`);
}

/** Tarjan's algorithm. */
function stronglyConnected(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const path: string[] = [];
  const groups: string[][] = [];
  const visit = (node: string): void => {
    order.set(node, order.size);
    low.set(node, order.size - 1);
    path.push(node);
    for (const next of edges.get(node) ?? []) {
      if (!order.has(next)) visit(next);
      if (path.includes(next)) low.set(node, Math.min(low.get(node) ?? 0, low.get(next) ?? 0));
    }
    if (low.get(node) === order.get(node)) groups.push(path.splice(path.indexOf(node)));
  };
  for (const node of edges.keys()) if (!order.has(node)) visit(node);
  return groups;
}
