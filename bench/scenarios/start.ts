import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestKey, startGateway } from '@llm0/testing/stores/start-gateway';
import { askChat } from '../load/ask-chat';
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
    const { status, text } = await askChat(gateway.url, apiKey, 'Are you there?');
    if (status !== 200) throw new Error(`the first answer was ${status}: ${text}`);
    return (performance.now() - startMs) / 1000;
  } finally {
    await gateway.stop();
  }
}
