import { describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkArchitecture } from './packages/testing/architecture/check-architecture';
import type { SourceFile } from './packages/testing/architecture/source-file';

const ROOT = import.meta.dir;
const ALL = new Bun.Glob('**/*');
/** Not ours, made by builds, or what a gateway that was tried here has kept. */
const NO_ROOMS = /^(node_modules|data|coverage)$|^\./;
const NOT_READ = /(^|\/)(node_modules|dist)\/|^bench\/results\//;
const READ = /\.(tsx?|lua|md)$|(^|\/)package\.json$/;

/** All files of the house; only those that a rule reads have a text. */
async function readSources(): Promise<SourceFile[]> {
  const top = readdirSync(ROOT, { withFileTypes: true });
  const rooms = top.filter((entry) => entry.isDirectory() && !NO_ROOMS.test(entry.name)).map(({ name }) => name);
  const below = rooms.flatMap((room) => [...ALL.scanSync({ cwd: join(ROOT, room) })].map((path) => join(room, path)));
  const beside = top.filter((entry) => entry.isFile()).map(({ name }) => name);
  const paths = [...beside, ...below].filter((path) => !NOT_READ.test(path));
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
      'core importing a package that others declare',
      [
        file('packages/core/package.json', '{"dependencies":{"re2js":"1"}}'),
        file('packages/core/src/a.ts', `import { pino } from 'pino/file';`),
      ],
      /imports pino, which/,
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
          `import { admit } from '../request/admit';\nimport { readRequest } from '../request/read-request';`,
        ),
        file('apps/gateway/src/pipeline/request/admit.ts', `import { readRequest } from './read-request';`),
        file('apps/gateway/src/pipeline/request/read-request.ts', 'export async function readRequest() {}'),
      ],
      /admit\.ts: a step calls another step: read-request/,
    ],
    [
      'the pipeline importing another room of the gateway',
      [file('apps/gateway/src/pipeline/request/a.ts', `import type { M } from '../../observe/metrics';`)],
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
      'a circle by an index, an ending that only compilers know, and a call',
      [
        file('packages/core/src/room/index.ts', `export * from './a.js';`),
        file('packages/core/src/room/a.ts', 'export const b = () => import(`./b`);'),
        file('packages/core/src/room/b.ts', `export const room = require('./');`),
      ],
      /in a circle: .*a\.ts, .*b\.ts, .*index\.ts/,
    ],
    [
      'core requiring a provider',
      [file('packages/core/src/a.ts', `const x = require('@llm0/providers/registry');`)],
      /may not import packages\/providers\/src\/registry/,
    ],
    [
      'core starting a worker of the gateway',
      [
        file(
          'packages/core/src/a.ts',
          `new Worker(new URL('../../../apps/gateway/src/threads/stats-worker.ts', import.meta.url), { env: {} });`,
        ),
      ],
      /may not import apps\/gateway\/src\/threads\/stats-worker/,
    ],
    [
      'the gateway importing bench by its workspace',
      [file('apps/gateway/src/a.ts', `import { x } from '@llm0/bench/options';`)],
      /may not import bench\/options/,
    ],
    [
      'the gateway importing the dashboard by its workspace',
      [file('apps/gateway/src/a.ts', `import { x } from '@llm0/dashboard/src/router';`)],
      /may not import apps\/dashboard/,
    ],
    [
      'the pipeline importing what stands beside the provider contract',
      [file('apps/gateway/src/pipeline/a.ts', `import { x } from '@llm0/providers/provider-keys';`)],
      /may not import packages\/providers\/src\/provider-keys/,
    ],
    [
      'a layer of the pipeline importing a higher one',
      [file('apps/gateway/src/pipeline/upstream/a.ts', `import type { M } from '../metering/meter';`)],
      /may not import .*metering\/meter, which is no lower layer/,
    ],
    [
      'an endpoint of the pipeline importing another',
      [file('apps/gateway/src/pipeline/chat/a.ts', `import { b } from '../passthrough/b';`)],
      /may not import .*passthrough\/b, which is no lower layer/,
    ],
    [
      'a file beside the folders of the pipeline importing an endpoint',
      [file('apps/gateway/src/pipeline/a.ts', `import { b } from './chat/b';`)],
      /may not import .*chat\/b, which is no lower layer/,
    ],
    [
      'a service importing the pipeline',
      [file('apps/gateway/src/services/a.ts', `import type { B } from '../pipeline/metering/b';`)],
      /may not import/,
    ],
    [
      'observe importing the pipeline',
      [file('apps/gateway/src/observe/a.ts', `import { x } from '../pipeline/request/admit';`)],
      /may not import/,
    ],
    [
      'a step importing a part of a step, under another name',
      [
        file(
          'apps/gateway/src/pipeline/chat/handle-chat.ts',
          `import { admit } from '../request/admit';\nimport { readRequestBody } from '../request/read-request';`,
        ),
        file('apps/gateway/src/pipeline/request/admit.ts', 'export const admit = 1;'),
        file('apps/gateway/src/pipeline/request/read-request.ts', `import { admit as ask } from './admit';`),
      ],
      /read-request\.ts: a step calls another step: admit/,
    ],
    [
      'a step importing all of a step',
      [
        file(
          'apps/gateway/src/pipeline/chat/handle-chat.ts',
          `import { admit } from '../request/admit';\nimport { respond } from './respond';`,
        ),
        file('apps/gateway/src/pipeline/request/admit.ts', 'export const admit = 1;'),
        file('apps/gateway/src/pipeline/chat/respond.ts', `import * as asking from '../request/admit';`),
      ],
      /respond\.ts: a step calls another step: admit/,
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
    ['a link to a document that is gone', [file('docs/a.md', 'See [there](../gone.md#part).')], /gone\.md/],
    [
      'a step in the list of steps that is gone',
      [file('docs/internals/request-path.md', '| `call-nowhere`, `dialect.decodeRequest` | nothing |')],
      /the step call-nowhere, which is no file of the pipeline/,
    ],
    ['a stray environment, taken apart', [file('drizzle/a.ts', 'const { env } = process;')], /process\.env/],
    ['a stray environment, imported', [file('drizzle/a.ts', `import { env } from 'node:process';`)], /process\.env/],
    ['code that is no TypeScript', [file('bench/a.mjs')], /TypeScript/],
    ['a stray environment', [file('apps/gateway/src/app.ts', 'const x = process.env.PORT;')], /process\.env/],
    ['a drawer of odds and ends', [file('packages/core/src/utils.ts')], /name/],
    ['a name in another case', [file('packages/core/src/keyCache.ts')], /kebab-case/],
    [
      'a Bun that reads the settings anew',
      [file('bench/a.ts', `Bun.spawn([...nice, process.${'execPath'}, main], { env })`)],
      /--no-env-file/,
    ],
    [
      'a program that is given all settings',
      [file('drizzle/a.ts', "Bun.spawn(['ps', f()], { stdio: [] })")],
      /an environment of its own/,
    ],
    [
      'a thread that is given all settings',
      [file('packages/core/src/a.ts', "f({ env }, new Worker(new URL('./b.ts', import.meta.url)))")],
      /an environment of its own/,
    ],
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
      /odd\.ts is in beta, but not in alpha/,
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
      file('packages/core/src/b.ts', "new Worker(new URL('./c.ts', import.meta.url), { env: {} });"),
      file('drizzle/a.ts', "Bun.spawn([process.execPath, '--no-env-file', f()], { env: none });"),
      file('packages/core/src/redis/handle.lua'),
      file('docs/b.md', '`packages/core/src/redis/`, `packages/core/src/c`, `docs/b.md`'),
      ...Array.from({ length: 22 }, (_, index) => file(`packages/core/src/room/part-${index}.ts`)),
      file('packages/core/src/room/part-1.test.ts'),
    ];
    expect(checkArchitecture(fine)).toEqual([]);
  });
});
