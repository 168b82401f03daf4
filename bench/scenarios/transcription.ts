import { wavOf } from '@llm0/core/tasks/wav';
import { sampleMemory } from '../machine/sample-memory';
import { median } from '../report/rows';
import type { BenchWorld, Target } from '../start-bench';
import { needGateway, type SpecialOutcome } from './special';

const MIB = 1024 * 1024;
const FILE_BYTES = 20 * MIB;
/** Rounds before those that count: the compiler and the allocator settle. */
const WARM_UP = 10;
const ROUNDS = 30;
const RATE = 16_000;
const PATH = '/v1/audio/transcriptions';

/** 20 MB of silence in turn to the bare proxy and the gateway: what the gateway adds to the first byte, and takes. */
export async function measureTranscription(world: BenchWorld): Promise<SpecialOutcome> {
  const gateway = needGateway(world, 'transcription');
  const [floor, ours] = (['floor', 'gateway'] as const).map((kind) => {
    const target = world.targets.find((one) => one.kind === kind);
    if (target === undefined) throw new Error(`${kind} is not there`);
    return { target, ms: [] as number[] };
  });
  if (floor === undefined || ours === undefined) throw new Error('nothing to measure');
  const recording = silence();
  for (let round = 0; round < WARM_UP; round++) {
    for (const { target } of [floor, ours]) await firstByteMs(target, recording);
  }
  const memory = [sampleMemory(floor.target.pid ?? 0, 20), sampleMemory(gateway.pid, 20)];
  for (let round = 0; round < ROUNDS; round++) {
    for (const { target, ms } of [floor, ours]) ms.push(await firstByteMs(target, recording));
  }
  const [floorMib = 0, oursMib = 0] = memory.map((samples) => {
    const [begin = 0, ...later] = samples.stop().map(({ mib }) => mib);
    return Math.max(...later) - begin;
  });
  const [floorMs, oursMs] = [median(floor.ms), median(ours.ms)];
  // Of each round: a slow second of the machine affects both.
  const addedMs = median(ours.ms.map((ms, round) => ms - (floor.ms[round] ?? 0)));
  const found =
    `transcription: first byte of 20 MB after ${oursMs.toFixed(1)} ms, ${floorMs.toFixed(1)} by the bare proxy: ` +
    `${addedMs.toFixed(1)} ms more (must be ≤ 5 ms); memory grew by ${oursMib.toFixed(1)} MiB, ` +
    `the bare proxy's by ${floorMib.toFixed(1)} (must be ≤ 2)`;
  return { rows: [], notes: [found] };
}

const silence = () => new Blob([new Uint8Array(wavOf(Buffer.alloc(FILE_BYTES), RATE))], { type: 'audio/wav' });

async function firstByteMs({ url, keys }: Target, recording: Blob): Promise<number> {
  const form = new FormData();
  form.append('model', 'gpt-4o-mini-transcribe');
  form.append('file', recording, 'silence.wav');
  const headers = { authorization: `Bearer ${keys.uncached}` };
  const startMs = performance.now();
  const response = await fetch(`${url}${PATH}`, { method: 'POST', headers, body: form });
  const tookMs = performance.now() - startMs;
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}${PATH}: ${response.status} ${text}`);
  return tookMs;
}
