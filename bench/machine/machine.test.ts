import { describe, expect, test } from 'bun:test';
import { showArguments } from './describe-machine';
import {
  findListener,
  parseStat,
  processTree,
  proportionalMib,
  readCpu,
  readMainThread,
  residentMib,
} from './process-stats';
import { sampleMemory, slopeOf } from './sample-memory';

test('CPU of a process is its own and that of children it has waited for, whatever its name', () => {
  const stat = '42 (a ) (b) S 7 1 1 0 -1 4194560 1 1 0 0 150 50 25 5 20 0 3 0 100 1 1';
  expect(parseStat(stat)).toEqual({ parent: 7, seconds: 2.3 });
});

test('the command of a report holds no secrets', () => {
  const args = [
    'hit',
    '--key',
    'llm0_live_1',
    '--compare-header',
    'authorization: x',
    '--compare-key=k',
    '--url',
    'a b',
  ];
  expect(showArguments(args).join(' ')).toBe("hit --key *** --compare-header *** --compare-key=*** --url 'a b'");
});

describe.if(process.platform === 'linux')('on Linux', () => {
  test('descendants count as the process they come from', async () => {
    const script = "console.log('up'); setInterval(() => {}, 1000)";
    const child = Bun.spawn([process.execPath, '--no-env-file', '-e', script], { stdout: 'pipe' });
    try {
      await child.stdout.getReader().read();
      expect(processTree(process.pid)).toContain(child.pid);
      expect(residentMib([child.pid])).toBeGreaterThan(1);
      expect(readCpu({ here: process.pid }).here).toBeGreaterThan(0);
    } finally {
      child.kill();
      await child.exited;
    }
    expect(residentMib([child.pid])).toBe(0);
  });

  test('a port leads to its process, and that to its main thread', async () => {
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
    try {
      expect(findListener(server.port ?? 0)).toBe(process.pid);
    } finally {
      await server.stop(true);
    }
    expect(findListener(server.port ?? 0)).toBeUndefined();
    const before = readMainThread(process.pid);
    // Of its own time: on a busy machine, 50 ms of a clock may hold none.
    const start = process.threadCpuUsage();
    while (process.threadCpuUsage(start).user < 50_000);
    expect(readMainThread(process.pid)).toBeGreaterThan(before);
    expect(readMainThread(process.pid)).toBeLessThanOrEqual(readCpu({ here: process.pid }).here ?? 0);
  });

  test('shared pages count once', () => {
    const [shared, resident] = [proportionalMib([process.pid]), residentMib([process.pid])];
    expect(shared).toBeGreaterThan(1);
    expect(shared).toBeLessThan(resident * 1.1);
  });

  test('memory is sampled from the beginning to the end', async () => {
    const sampling = sampleMemory(process.pid, 5);
    await Bun.sleep(30);
    const points = sampling.stop();
    expect(points.length).toBeGreaterThanOrEqual(3);
    expect(points.every(({ mib }) => mib > 1)).toBe(true);
  });
});

describe('the slope of memory', () => {
  const points = (mibAt: (seconds: number) => number) =>
    Array.from({ length: 100 }, (_, seconds) => ({ seconds, mib: mibAt(seconds) }));

  test('is what it grows by in an hour, the beginning left out', () => {
    const grown = points((seconds) => (seconds < 50 ? 500 - seconds : 100 + seconds / 3600));
    expect(slopeOf(grown, 50)?.mibPerHour).toBeCloseTo(1);
    expect(slopeOf(grown, 50)?.marginMibPerHour).toBeCloseTo(0);
  });

  test('is within its margin of nothing for memory that goes up and down', () => {
    const slope = slopeOf(
      points((seconds) => 100 + (seconds % 7)),
      0,
    );
    expect(Math.abs(slope?.mibPerHour ?? Number.NaN)).toBeLessThan(slope?.marginMibPerHour ?? 0);
  });

  test('is unknown for too few points', () => {
    expect(slopeOf(points(() => 1).slice(0, 2), 0)).toBeNull();
  });
});
