import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestKey, startGateway } from '@llm0/testing/stores/start-gateway';
import { median } from '../report/rows';
import type { BenchWorld } from '../start-bench';
import { needGateway, type SpecialOutcome } from './special';

/** From spawning a process to its first cached or fresh answer; the very first start (migrations) is not counted. */
export async function measureStart(world: BenchWorld): Promise<SpecialOutcome> {
  const { env } = needGateway(world, 'start');
  const dataDir = await mkdtemp(join(tmpdir(), 'llm0-bench-start-'));
  try {
    const first = await startGateway({ dataDir, env });
    const { apiKey } = await createTestKey(first);
    await first.stop();
    const seconds: number[] = [];
    for (let trial = 0; trial < world.options.trials; trial++) seconds.push(await startOnce(dataDir, env, apiKey));
    const [least, most] = [Math.min(...seconds), Math.max(...seconds)];
    const kind = world.stores === undefined ? 'embedded' : 'real';
    const must = world.stores === undefined ? 2 : 0.6;
    const figures = `${median(seconds).toFixed(2)} s (${least.toFixed(2)} to ${most.toFixed(2)})`;
    return { rows: [], notes: [`start to first answer on ${kind} stores: ${figures}; must be ≤ ${must} s`] };
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function startOnce(dataDir: string, env: Readonly<Record<string, string>>, apiKey: string): Promise<number> {
  const startMs = performance.now();
  const gateway = await startGateway({ dataDir, env });
  try {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Are you there?' }] }),
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`the first answer was ${answer.status}: ${text}`);
    return (performance.now() - startMs) / 1000;
  } finally {
    await gateway.stop();
  }
}
