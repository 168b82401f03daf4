import { expect, test } from 'bun:test';
import { basename, join } from 'node:path';
import { findTestFiles } from '../bin/plan-tests';

const ROOT = join(import.meta.dir, '../../..');
/** `- claim — \`file.test.ts\` "name of a test"`. */
const CLAIM = /^- .+ — `([\w.-]+\.test\.ts)` "([^"]+)"$/;

const document = await Bun.file(join(ROOT, 'docs/operate/security.md')).text();
const claims = document.split('\n').filter((line) => line.startsWith('- '));
const files = new Map(findTestFiles(ROOT).map((path) => [basename(path), join(ROOT, path)]));

test('docs/operate/security.md speaks of all six attackers', () => {
  const parts = document.split(/^## /m).filter((part) => /^(?:With|As) /.test(part));
  expect(parts).toHaveLength(6);
  for (const part of parts) expect(part.split('\n').filter((line) => line.startsWith('- ')).length).toBeGreaterThan(5);
});

test.each(claims)('%s', async (claim) => {
  const [, file = '', name = ''] = CLAIM.exec(claim) ?? [];
  const path = files.get(file);
  expect([claim, path]).toEqual([claim, expect.any(String)]);
  expect(await Bun.file(path ?? '').text()).toContain(name);
});
