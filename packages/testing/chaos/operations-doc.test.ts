import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '../../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const namesIn = (text: string) => new Set([...text.matchAll(/['`](llm0_[a-z_]+)['`]/g)].map((match) => match[1]));

test('docs/operate/monitoring.md names every metric that is exported, and no other', () => {
  const exported = new Set([
    ...namesIn(read('apps/gateway/src/observe/metrics.ts')),
    ...namesIn(read('apps/gateway/src/observe/record-metrics.ts')),
  ]);
  expect([...namesIn(read('docs/operate/monitoring.md'))].sort()).toEqual([...exported].sort());
});
