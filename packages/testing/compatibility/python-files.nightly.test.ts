import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { shareEnvironment, type TestEnvironment } from '../e2e/environment';
import { installPythonOpenai } from '../sdk/install-python-openai';
import { createTestKey } from '../stores/start-gateway';
import { SETUP_MS } from './prove-clients';

let world: TestEnvironment;
beforeAll(async () => {
  world = await shareEnvironment({ kind: 'real' });
}, SETUP_MS);
afterAll(() => world.close(), SETUP_MS);

test(
  'the official SDK for Python uses files and batches',
  async () => {
    const sdk = await installPythonOpenai();
    const { apiKey } = await createTestKey(world.gateway, { key: { rate_limit_per_minute: null } });
    const env = { ...sdk.env, GATEWAY_URL: world.gateway.url, GATEWAY_KEY: apiKey, MODEL: 'openai/gpt-4o-mini' };
    const script = join(import.meta.dir, 'clients', 'python_files.py');
    const child = Bun.spawn([sdk.python, script], { env, stdout: 'pipe', stderr: 'pipe' });
    const [out, problem] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    expect([await child.exited, problem]).toEqual([0, '']);
    const { tokens, said, ...seen } = JSON.parse(out) as { readonly tokens: number; readonly said: string };
    expect(seen).toEqual({
      ...{ file: ['report.pdf', 20, 'user_data', 3600], same_content: true, listed: ['input.jsonl'] },
      ...{ status: 'completed', counts: { completed: 3, failed: 0, total: 3 }, metadata: { name: 'python' } },
      results: [0, 1, 2].map((index) => [`line-${index}`, 200]),
      ...{ batches: [true], deleted: true, gone: [404, 'NotFoundError'], broken: [404, 'NotFoundError'] },
    });
    expect(said).not.toBe('');
    expect(tokens).toBeGreaterThan(0);
  },
  SETUP_MS,
);
