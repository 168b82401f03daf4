import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { settingNames } from '@llm0/gateway/config/config';
import { REFERENCE, referencePages } from './pages';
import { explainedSettings } from './settings';

test('the reference is that of the code: bun run docs writes it', async () => {
  for (const [file, text] of Object.entries(await referencePages())) {
    expect([file, await Bun.file(join(REFERENCE, file)).text()]).toEqual([file, text]);
  }
});

/** Set by this project for its own processes, or like a sibling that is explained. */
const UNEXPLAINED = /^(?:LLM0_.*|[A-Z]+_BASE_URL|AWS_DEFAULT_REGION)$/;

test('.env.example explains every setting that the code reads', async () => {
  const explained = explainedSettings(await Bun.file(join(REFERENCE, '../../.env.example')).text());
  const missing = [...settingNames()].filter((name) => !explained.has(name) && !UNEXPLAINED.test(name));
  expect(missing).toEqual([]);
});

test('every setting has a meaning', async () => {
  const page = await Bun.file(join(REFERENCE, 'settings.md')).text();
  expect(page.match(/^\| `.*\|\s*\|$/gm)).toBeNull();
});
