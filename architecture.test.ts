import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { checkArchitecture, type SourceFile } from './architecture';

const ROOT = import.meta.dir;
const SOURCES = new Bun.Glob('{apps,packages,drizzle,bench}/**/*.{ts,tsx}');
const ROOT_SOURCES = new Bun.Glob('*.ts');

async function readSources(): Promise<SourceFile[]> {
  const paths = [...SOURCES.scanSync({ cwd: ROOT }), ...ROOT_SOURCES.scanSync({ cwd: ROOT })].filter(
    (path) => !/(^|\/)(node_modules|dist)\//.test(path),
  );
  return Promise.all(paths.sort().map(async (path) => ({ path, text: await Bun.file(join(ROOT, path)).text() })));
}

test('the code keeps to the rules of the house', async () => {
  const sources = await readSources();
  expect(sources.length).toBeGreaterThan(50);
  expect(checkArchitecture(sources)).toEqual([]);
});

describe('the checker finds', () => {
  const file = (path: string, text = ''): SourceFile => ({ path, text });
  const lines = (count: number) => 'x;\n'.repeat(count);

  test.each<[string, SourceFile[], RegExp]>([
    [
      'core importing the database',
      [file('packages/core/src/a.ts', `import { x } from '@llm0/drizzle/client';`)],
      /may not import/,
    ],
    [
      'core leaving its folder',
      [file('packages/core/src/a.ts', `import x from '../../../drizzle/client';`)],
      /may not import/,
    ],
    [
      'a provider importing the gateway',
      [file('packages/providers/src/a.ts', `export * from '@llm0/gateway/config/config';`)],
      /may not import/,
    ],
    [
      'a provider importing another',
      [file('packages/providers/src/alpha/a.ts', `import x from '../beta/b';`)],
      /may not import/,
    ],
    [
      'a step importing a step',
      [
        file('apps/gateway/src/pipeline/admit.ts', `import { readRequest } from './read-request';`),
        file('apps/gateway/src/pipeline/read-request.ts', 'export async function readRequest() {}'),
      ],
      /step/,
    ],
    [
      'the pipeline importing SQL',
      [file('apps/gateway/src/pipeline/a.ts', `import { y } from '@llm0/drizzle/queries/y';`)],
      /may not import/,
    ],
    [
      'jobs importing the pipeline',
      [file('apps/gateway/src/jobs/a.ts', `await import('../pipeline/admit');`)],
      /may not import/,
    ],
    [
      'anything importing bench',
      [file('apps/gateway/src/a.ts', `import x from '../../../bench/run';`)],
      /may not import/,
    ],
    ['a long file', [file('packages/core/src/a.ts', lines(301))], /301 lines/],
    ['a stray environment', [file('apps/gateway/src/app.ts', 'const x = process.env.PORT;')], /process\.env/],
    ['a drawer of odds and ends', [file('packages/core/src/utils.ts')], /name/],
    ['a name in another case', [file('packages/core/src/keyCache.ts')], /kebab-case/],
    ['a note to oneself', [file('packages/core/src/a.ts', `// ${'TO'}DO: later`)], /note/],
    [
      'a provider named in the core',
      [file('packages/core/src/a.ts', `if (name === 'openai') f();`), file('packages/providers/src/openai/index.ts')],
      /names a provider/,
    ],
    [
      'provider folders that differ',
      [
        ...['alpha', 'beta'].flatMap((name) =>
          ['index', 'wire', 'encode-request'].map((part) => file(`packages/providers/src/${name}/${part}.ts`)),
        ),
        file('packages/providers/src/beta/odd.ts'),
      ],
      /odd\.ts/,
    ],
  ])('%s', (_name, sources, message) => {
    const violations = checkArchitecture(sources);
    expect(violations).toHaveLength(1);
    expect(violations[0]).toMatch(message);
  });

  test('nothing in code that keeps to them', () => {
    const fine = [
      file('packages/core/src/a.ts', `import x from './b';\nimport { readFile } from 'node:fs/promises';\n`),
      file('packages/providers/src/alpha/index.ts', `import type { C } from '@llm0/core/chat/request';`),
      file('apps/gateway/src/services.ts', `import { connectDatabase } from '@llm0/drizzle/client';`),
      file('apps/gateway/src/config/config.ts', 'readConfig(process.env)'),
      file('apps/gateway/src/jobs/a.ts', `import { y } from '@llm0/drizzle/queries/y';`),
      file('packages/core/src/a.test.ts', lines(900)),
    ];
    expect(checkArchitecture(fine)).toEqual([]);
  });
});
