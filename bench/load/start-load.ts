import { join } from 'node:path';
import type { LoadJob, LoadResult } from './load-job';

/** Load from a process of its own. Throws when that fails. */
export async function load(job: LoadJob): Promise<LoadResult> {
  const child = Bun.spawn([process.execPath, '--no-env-file', join(import.meta.dir, 'load.ts'), JSON.stringify(job)], {
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: '20000' },
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`load generator failed: ${text}`);
  return JSON.parse(text.trim().split('\n').at(-1) ?? '') as LoadResult;
}
