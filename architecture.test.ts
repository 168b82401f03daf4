import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { checkArchitecture } from './packages/testing/architecture/check-architecture';
import type { SourceFile } from './packages/testing/architecture/source-file';

const ROOT = import.meta.dir;
const HOUSE = new Bun.Glob('{apps,packages,drizzle,bench,docs}/**/*');
const ROOT_FILES = new Bun.Glob('*');
const READ = /\.(tsx?|lua|md)$/;

/** All files of the house; only those that a rule reads have a text. */
async function readSources(): Promise<SourceFile[]> {
  const paths = [...HOUSE.scanSync({ cwd: ROOT }), ...ROOT_FILES.scanSync({ cwd: ROOT })].filter(
    (path) => !/(^|\/)(node_modules|dist|results)\//.test(path),
  );
  return Promise.all(
    paths.sort().map(async (path) => ({ path, text: READ.test(path) ? await Bun.file(join(ROOT, path)).text() : '' })),
  );
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
        file(
          'apps/gateway/src/pipeline/chat/handle-chat.ts',
          `import { admit } from '../exchange/admit';\nimport { readRequest } from '../exchange/read-request';`,
        ),
        file('apps/gateway/src/pipeline/exchange/admit.ts', `import { readRequest } from './read-request';`),
        file('apps/gateway/src/pipeline/exchange/read-request.ts', 'export async function readRequest() {}'),
      ],
      /admit\.ts: a step calls another step: read-request/,
    ],
    [
      'the pipeline importing another room of the gateway',
      [file('apps/gateway/src/pipeline/exchange/a.ts', `import type { M } from '../../observe/metrics';`)],
      /may not import/,
    ],
    [
      'files that import each other, if only types',
      [
        file('packages/core/src/a.ts', `import { b } from './b';`),
        file('packages/core/src/b.ts', `import type { C } from './c';`),
        file('packages/core/src/c.ts', `export type { A } from './a';`),
      ],
      /a\.ts: imports itself in a circle: .*a\.ts, .*b\.ts, .*c\.ts/,
    ],
    [
      'a file that imports itself by its workspace',
      [file('packages/core/src/a.ts', `import type { A } from '@llm0/core/a';`)],
      /in a circle/,
    ],
    [
      'a full folder',
      Array.from({ length: 23 }, (_, index) =>
        file(`packages/core/src/room/part-${index}.${index < 9 ? 'lua' : 'ts'}`),
      ),
      /room: 23 product files/,
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
    ['a long function', [file('packages/core/src/a.ts', `function f() {\n${lines(59)}}`)], /f in line 1 has 61 lines/],
    [
      'a long component',
      [file('apps/dashboard/src/a.tsx', `const A = () => (\n<>\n${'<i />\n'.repeat(58)}</>);`)],
      /60 are/,
    ],
    ['a long method', [file('drizzle/a.ts', `class A {\n  async run() {\n${lines(59)}  }\n}`)], /line 2 has 61 lines/],
    [
      'a comment about a file that is gone',
      [file('packages/core/src/a.ts', '/** As in `limits/gone.lua`. */')],
      /limits\/gone\.lua, which does not exist/,
    ],
    ['a comment of a script', [file('packages/core/src/a.lua', '-- gone.ts does it too')], /gone\.ts/],
    ['a document about a folder that is gone', [file('docs/a.md', 'See `packages/core/src/gone/`.')], /src\/gone/],
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
      file('packages/core/src/a.test.ts', `function f() {\n${lines(900)}}`),
      file('packages/core/src/c.ts', `function f() {\n${lines(58)}}\n// As in src/b.ts and handle.lua.`),
      file('packages/core/src/b.ts'),
      file('packages/core/src/redis/handle.lua'),
      file('docs/b.md', '`packages/core/src/redis/`, `packages/core/src/c`, `docs/b.md`'),
      ...Array.from({ length: 22 }, (_, index) => file(`packages/core/src/room/part-${index}.ts`)),
      file('packages/core/src/room/part-1.test.ts'),
    ];
    expect(checkArchitecture(fine)).toEqual([]);
  });
});
