// A request must not pay for features that it doesn't use. Counts need no quiet machine: lower a bound when you go below it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { ask, postChat, startEnvironment, type TestEnvironment } from '../e2e/environment';
import { createTestKey } from '../stores/start-gateway';
import type { Work } from './work';

const REQUESTS = 50;
const BATCHES = 5;
const WARM_UP = 50;
/** Per request; allocations are literals of objects and arrays, closures, and `new`. */
const BOUNDS = {
  miss: { files: 78, calls: 285, allocations: 106 },
  hit: { files: 56, calls: 174, allocations: 77 },
  stream: { files: 94, calls: 489, allocations: 175 },
  speech: { files: 85, calls: 541, allocations: 273 },
} as const;

let world: TestEnvironment;
let apiKey: string;
let serial = 0;

beforeAll(async () => {
  const env = {
    BUN_OPTIONS: `--preload=${join(import.meta.dir, 'preload.ts')}`,
    // Rows are stored by the elected process, many at once.
    DISABLE_BACKGROUND_WORKERS: 'true',
    CACHE_BACKEND: 'memory',
  };
  world = await startEnvironment({ kind: 'real', env, allVendors: false });
  ({ apiKey } = await createTestKey(world.gateway));
  const text = Array.from({ length: 20 }, (_, index) => `word${index}`).join(' ');
  world.upstream.control.setModel('gpt-4o-mini', { text });
}, 60_000);
afterAll(() => world.close());

const send = async (body: object) => (await postChat(world.gateway, apiKey, body)).text();
const speak = async (input: string) => {
  const response = await fetch(`${world.gateway.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini-tts', input, voice: 'alloy' }),
  });
  return response.bytes();
};
const SENDERS = {
  miss: () => send(ask(`question ${serial++}`)),
  hit: () => send(ask('the same question')),
  stream: () => send(ask(`question ${serial++}`, { stream: true })),
  speech: () => speak(`question ${serial++}`),
};

async function takeWork(): Promise<Work> {
  const url = /^request work: (\S+)$/m.exec(world.gateway.output())?.[1] ?? '';
  return (await fetch(url)).json() as Promise<Work>;
}

test.each(['miss', 'hit', 'stream', 'speech'] as const)(
  'the work of a %s stays within its bound',
  async (kind) => {
    for (let i = 0; i < WARM_UP; i++) await SENDERS[kind]();
    const works: Work[] = [];
    for (let batch = 0; batch < BATCHES; batch++) {
      await takeWork();
      for (let i = 0; i < REQUESTS; i++) await SENDERS[kind]();
      works.push(await takeWork());
    }
    // Timers and the drain of rows call as often as they like: the same number each time is the request's own.
    const each = Object.entries(works[0] ?? {}).filter(([name, { calls }]) => {
      const times = timesOf(calls);
      return times > 0 && works.every((work) => timesOf(work[name]?.calls ?? 0) === times);
    });
    const sum = (of: 'calls' | 'allocations') => Math.round(each.reduce((all, [, one]) => all + one[of], 0) / REQUESTS);
    const files = new Set(each.map(([name]) => name.split(' ')[0])).size;
    const found = { files, calls: sum('calls'), allocations: sum('allocations') };
    if (process.env.SHOW_WORK !== undefined) console.log(kind, found, show(each));
    for (const name of ['files', 'calls', 'allocations'] as const) {
      expect([name, found[name] > 0, found[name] <= BOUNDS[kind][name]]).toEqual([name, true, true]);
    }
  },
  30_000,
);

/** Per request, where that is a whole number, give or take what a timer adds; else 0. */
function timesOf(calls: number): number {
  const times = Math.round(calls / REQUESTS);
  return Math.abs(calls - times * REQUESTS) <= 1 ? times : 0;
}

const show = (each: readonly (readonly [string, Work[string]])[]) =>
  each
    .toSorted(([, a], [, b]) => b.calls + b.allocations - a.calls - a.allocations)
    .map(([name, { calls, allocations }]) => `${calls / REQUESTS} ${allocations / REQUESTS} ${name}`)
    .join('\n');
