export interface TestCounts {
  readonly passed: number;
  /** Failed and skipped ones: a test that does not run proves nothing. */
  readonly failed: number;
  readonly skipped: readonly string[];
  /** Those with at least one test. */
  readonly files: ReadonlySet<string>;
}

/** Counts a junit report of `bun test`. */
export function countTests(junit: string): TestCounts {
  let passed = 0;
  let failed = 0;
  const skipped: string[] = [];
  const files = new Set<string>();
  for (const match of junit.matchAll(/<testcase\b([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g)) {
    const [, attributes = '', body = ''] = match;
    files.add(attribute(attributes, 'file'));
    if (/<(failure|error)\b/.test(body)) failed++;
    else if (/<skipped\b/.test(body)) {
      failed++;
      skipped.push(`${attribute(attributes, 'file')}: ${attribute(attributes, 'name')}`);
    } else passed++;
  }
  return { passed, failed, skipped, files };
}

function attribute(attributes: string, name: string): string {
  const text = new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? '?';
  return text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
