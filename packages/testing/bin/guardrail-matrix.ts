// `bun run guardrail-matrix`: plants secrets in every cell of route × vendor × stream × part × action, and puts the table of
// what came out into docs/reference/guardrail-figures.md when nothing did.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MatrixCell } from '../guardrails/matrix';
import { placeBetweenMarks, renderMatrix } from '../guardrails/render-matrix';

const SUITES = ['guardrails', 'guardrail-answers'].map((name) => `packages/testing/e2e/${name}.e2e.test.ts`);
const TEST = join(import.meta.dir, 'test.ts');
const DOCUMENT = join(import.meta.dir, '../../../docs/reference/guardrail-figures.md');

const folder = await mkdtemp(join(tmpdir(), 'llm0-guardrail-matrix-'));
try {
  const path = join(folder, 'matrix.json');
  const suite = Bun.spawn([process.execPath, '--no-env-file', TEST, '--all', '--workers', '1', ...SUITES], {
    env: { ...process.env, GUARDRAIL_MATRIX_FILE: path },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const code = await suite.exited;
  if (!(await Bun.file(path).exists())) throw new Error(`the suite wrote nothing: it ended with ${code}`);
  const lines = (await Bun.file(path).text()).trim().split('\n');
  const cells = lines.flatMap((line) => JSON.parse(line) as readonly MatrixCell[]);
  const table = renderMatrix(cells);
  console.log(table);
  if (code === 0) await Bun.write(DOCUMENT, placeBetweenMarks(await Bun.file(DOCUMENT).text(), 'matrix', table));
  console.log(
    code === 0 ? 'docs/reference/guardrail-figures.md is written' : 'the suite failed: the document stays as it is',
  );
  process.exitCode = code;
} finally {
  await rm(folder, { recursive: true, force: true });
}
