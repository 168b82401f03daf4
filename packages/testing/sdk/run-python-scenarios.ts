import { join } from 'node:path';
import type { JsonObject } from '@llm0/core/chat/json';
import type { PythonSdk } from './install-python-sdk';

/** Runs a script of this folder to its end; returns the JSON it printed, by scenario. Throws what it wrote to stderr. */
export async function runPythonScenarios(
  sdk: PythonSdk,
  script: string,
  env: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, JsonObject>>> {
  const child = Bun.spawn([sdk.python, join(import.meta.dir, script)], {
    env: { ...sdk.env, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, problem] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(problem);
  return JSON.parse(out) as Readonly<Record<string, JsonObject>>;
}
