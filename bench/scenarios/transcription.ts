import { wavOf } from '@llm0/core/tasks/wav';
import { sampleMemory } from '../machine/sample-memory';
import { median } from '../report/rows';
import type { BenchWorld, Target } from '../start-bench';
import { needGateway, type SpecialOutcome } from './special';

const MIB = 1024 * 1024;
const FILE_BYTES = 20 * MIB;
/** Uploads before those that count, short and long: the compiler and the allocator settle. */
const SHORT = { bytes: 20_000, count: 5000 };
const WARM_UP = 20;
const ROUNDS = 60;
const RATE = 16_000;
const PATH = '/v1/audio/transcriptions';

interface Measured {
  readonly target: Target;
  /** From the begin of the request to the first byte of its answer. */
  readonly ms: number[];
  /** The most resident memory while it was under way, above what the process had before. */
  readonly mib: number[];
}

/** 20 MB of silence in turn to the bare proxy and the gateway: what the gateway adds to the first byte, and takes. */
export async function measureTranscription(world: BenchWorld): Promise<SpecialOutcome> {
  needGateway(world, 'transcription');
  const [floor, ours] = (['floor', 'gateway'] as const).map((kind): Measured => {
    const target = world.targets.find((one) => one.kind === kind);
    if (target === undefined) throw new Error(`${kind} is not there`);
    return { target, ms: [], mib: [] };
  });
  if (floor === undefined || ours === undefined) throw new Error('nothing to measure');
  const [short, recording] = [silence(SHORT.bytes), silence(FILE_BYTES)];
  for (let round = 0; round < SHORT.count; round++) {
    for (const { target } of [floor, ours]) await firstByteMs(target, short);
  }
  for (let round = 0; round < WARM_UP; round++) {
    for (const { target } of [floor, ours]) await firstByteMs(target, recording);
  }
  for (let round = 0; round < ROUNDS; round++) {
    // What one leaves to do must not always fall on the other.
    for (const one of round % 2 === 0 ? [floor, ours] : [ours, floor]) await measureOne(one, recording);
  }
  // Of each round: a slow second of the machine affects both.
  const added = (of: 'ms' | 'mib') =>
    median(ours[of].map((value, round) => value - (floor[of][round] ?? 0))).toFixed(1);
  const middle = ({ ms, mib }: Measured) => `${median(ms).toFixed(1)} ms and ${median(mib).toFixed(1)} MiB`;
  const found =
    `transcription: an upload of 20 MB takes ${middle(ours)} until its first byte, ${middle(floor)} in the bare proxy: ` +
    `${added('ms')} ms more (must be ≤ 5) and ${added('mib')} MiB more (must be ≤ 2)`;
  return { rows: [], notes: [found] };
}

async function measureOne({ target, ms, mib }: Measured, recording: Blob): Promise<void> {
  const memory = sampleMemory(target.pid ?? 0, 4);
  ms.push(await firstByteMs(target, recording));
  const [begin = 0, ...later] = memory.stop().map((point) => point.mib);
  mib.push(Math.max(...later) - begin);
}

const silence = (bytes: number) => new Blob([new Uint8Array(wavOf(Buffer.alloc(bytes), RATE))], { type: 'audio/wav' });

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
