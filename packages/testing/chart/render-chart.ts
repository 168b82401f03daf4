import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { findHelm, runTool } from './install-helm';

export const CHART = join(import.meta.dir, '../../../deploy/helm/llm0');
const RELEASE = 'gw';

/** An object of Kubernetes, as far as tests look at it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: each kind has another one, and its schema is checked apart
  readonly spec: any;
}

export type Values = Readonly<Record<string, unknown>>;

/** Secrets that stand for an operator's. */
export const SECRETS = Object.fromEntries(
  ['ADMIN_TOKEN', 'ENCRYPTION_KEY', 'DATABASE_URL', 'REDIS_URL', 'OPENAI_API_KEY'].map((name) => [
    name,
    { name: 'llm0', key: name.toLowerCase() },
  ]),
);

/** `helm template`, as text. Throws with what Helm complains of. */
export const templateChart = (values: Values): Promise<string> =>
  withValues(values, async (file) => runTool([await findHelm(), 'template', RELEASE, CHART, '-f', file]));

/** `helm lint --strict`. */
export const lintChart = (values: Values): Promise<string> =>
  withValues(values, async (file) => runTool([await findHelm(), 'lint', CHART, '--strict', '-f', file]));

export async function renderChart(values: Values): Promise<readonly Manifest[]> {
  const documents = parseAllDocuments(await templateChart(values), { uniqueKeys: true });
  return documents.flatMap((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    const value = document.toJS() as Manifest | null;
    return value === null ? [] : [value];
  });
}

/** The only one of its kind; by the end of its name where there are several. */
export function find(manifests: readonly Manifest[], kind: string, suffix = ''): Manifest {
  const found = manifests.filter((one) => one.kind === kind && one.metadata.name.endsWith(suffix));
  const [only, ...others] = found;
  if (only === undefined || others.length > 0) throw new Error(`${found.length} of ${kind} …${suffix}`);
  return only;
}

async function withValues<T>(values: Values, use: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'llm0-values-'));
  try {
    const file = join(folder, 'values.json');
    await Bun.write(file, JSON.stringify(values));
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
