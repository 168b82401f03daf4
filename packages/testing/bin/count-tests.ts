export interface TestCounts {
  readonly passed: number;
  /** Failed and skipped ones: a test that does not run proves nothing. */
  readonly failed: number;
  readonly skipped: readonly string[];
  /** Of each file with a failed test, what its tests came to. */
  readonly broken: ReadonlyMap<string, BrokenFile>;
  /** Those with at least one test, and the milliseconds each took, hooks included. */
  readonly files: ReadonlyMap<string, number>;
}

export interface BrokenFile {
  readonly passed: number;
  readonly failures: readonly string[];
}

/** Counts a junit report of `bun test`. */
export function countTests(junit: string): TestCounts {
  let passed = 0;
  let failed = 0;
  const skipped: string[] = [];
  const files = new Map<string, { passed: number; failures: string[] }>();
  for (const match of junit.matchAll(/<testcase\b([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g)) {
    const [, attributes = '', body = ''] = match;
    const [path, name] = [attribute(attributes, 'file'), attribute(attributes, 'name')];
    const file = files.get(path) ?? { passed: 0, failures: [] };
    files.set(path, file);
    const isSkipped = /<skipped\b/.test(body);
    if (isSkipped) skipped.push(`${path}: ${name}`);
    if (isSkipped || /<(failure|error)\b/.test(body)) {
      failed++;
      file.failures.push(name);
    } else {
      passed++;
      file.passed++;
    }
  }
  const took = new Map<string, number>();
  // A file's own suite comes before those of its groups.
  for (const [, attributes = ''] of junit.matchAll(/<testsuite\b([^>]*)>/g)) {
    const path = attribute(attributes, 'file');
    if (!took.has(path)) took.set(path, Number(attribute(attributes, 'time')) * 1000);
  }
  const broken = new Map([...files].filter(([, { failures }]) => failures.length > 0));
  return {
    passed,
    failed,
    skipped,
    broken,
    files: new Map([...files.keys()].map((path) => [path, took.get(path) ?? 0])),
  };
}

function attribute(attributes: string, name: string): string {
  const text = new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? '?';
  return text.replace(/&(quot|apos|lt|gt|amp);/g, (_, entity: keyof typeof ENTITIES) => ENTITIES[entity]);
}

const ENTITIES = { quot: '"', apos: "'", lt: '<', gt: '>', amp: '&' } as const;
