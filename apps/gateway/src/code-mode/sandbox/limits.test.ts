import { afterEach, expect, test } from 'bun:test';
import { waitUntil } from '@llm0/testing/e2e/environment';
import { isAll } from '@llm0/testing/lane';
import { SandboxFixture } from './sandbox.fixture';
import { SANDBOX_LIMITS } from './sandbox-messages';
import { SandboxPool } from './sandbox-pool';

const open: SandboxFixture[] = [];
afterEach(() => {
  for (const { pool } of open.splice(0)) pool.close();
});

function start(...args: ConstructorParameters<typeof SandboxFixture>): SandboxFixture {
  const fixture = new SandboxFixture(...args);
  open.push(fixture);
  return fixture;
}

test('the limits are those that documents name', () => {
  const { memoryBytes, timeMs, calls, resultBytes } = SANDBOX_LIMITS;
  expect({ memoryBytes, timeMs, calls, resultBytes }).toEqual({
    ...{ memoryBytes: 16 * 2 ** 20, timeMs: 30_000, calls: 50, resultBytes: 64 * 2 ** 10 },
  });
});

test('a run is over with its time, and within a second of it', async () => {
  const fixture = start({ timeMs: 700 });
  for (const code of ['for (;;);', 'await new Promise(() => {})', 'await tools.demo.wait({ ms: 20000 })']) {
    const startedMs = performance.now();
    expect(await fixture.run(`console.log('began'); ${code}`)).toMatchObject({ reason: 'time', logs: ['began'] });
    const tookMs = performance.now() - startedMs;
    expect(tookMs).toBeGreaterThan(690);
    if (isAll) expect(tookMs).toBeLessThan(1700);
  }
  await waitUntil(() => fixture.aborted === 1);
});

test('14 MB are enough for 13, and not for 17', async () => {
  const fixture = start();
  expect(await fixture.value('new Uint8Array(13e6).fill(1).length')).toBe(13_000_000);
  expect(await fixture.run('new Uint8Array(17e6).fill(1).length')).toMatchObject({ reason: 'memory' });
  expect(await fixture.value('const a = []; for (let i = 0; i < 1e5; i++) a.push({ i }); a.length')).toBe(100_000);
});

test('the 51st call is refused, whether the others are waited for or not', async () => {
  const fixture = start();
  const code = `const all = await Promise.allSettled(Array.from({ length: 60 }, (_, n) => tools.demo.echo({ n })));
    [all.filter(({ status }) => status === 'fulfilled').length, all[50].reason.message]`;
  expect(await fixture.value(code)).toEqual([50, 'A script may call tools 50 times.']);
  expect(fixture.calls).toHaveLength(50);
});

test('a result has 64 kB of UTF-8', async () => {
  const fixture = start();
  expect(await fixture.value('"x".repeat(65534)')).toHaveLength(65_534);
  for (const code of ['"x".repeat(65535)', '"ü".repeat(40000)', 'Array(70000).fill(1)']) {
    const outcome = await fixture.run(code);
    expect(outcome).toMatchObject({ reason: 'error' });
    expect(outcome.text).toContain('larger than 65536 bytes');
  }
});

test('the console is cut, and a flood of it does not reach the gateway', async () => {
  const fixture = start();
  for (const [times, line] of [
    [10_000, '"x".repeat(1000)'],
    [100_000, '""'],
    [100, '"ü".repeat(1e6)'],
  ] as const) {
    const { logs } = await fixture.run(`for (let i = 0; i < ${times}; i++) console.log(${line})`);
    expect(logs.length).toBeGreaterThan(0);
    expect(logs.length).toBeLessThan(4200);
    expect(Buffer.byteLength(logs.join('\n'))).toBeLessThan(80_000);
    expect(logs.at(-1)).toBe('[no more of the console than 65536 bytes]');
  }
});

test('arguments and answers of tools are bounded', async () => {
  const fixture = start();
  const many = await fixture.run('await tools.demo.echo({ a: "x".repeat(2e6) })');
  expect(many.text).toContain('longer than 1048576 characters');
  expect(fixture.calls).toEqual([]);
  const large = await fixture.run('await tools.demo.echo({})', { call: async () => JSON.stringify('x'.repeat(3e6)) });
  expect(large.text).toContain('The result is longer than');
  const fits = await fixture.value('(await tools.demo.echo({})).length', { call: async () => `"${'x'.repeat(1e6)}"` });
  expect(fits).toBe(1_000_000);
});

test('timers are bounded in number and in time', async () => {
  const fixture = start({ timeMs: 500 });
  expect((await fixture.run('for (let i = 0; i < 1001; i++) setTimeout(() => {}, 400)')).text).toContain('1000 timers');
  expect(await fixture.run('await new Promise((r) => setTimeout(r, 2 ** 40))')).toMatchObject({ reason: 'time' });
  expect(
    await fixture.value(
      'let n = 0; const t = setTimeout(() => n++, 1); clearTimeout(t); await new Promise((r) => setTimeout(r, 50)); n',
    ),
  ).toBe(0);
});

test.each(['for (;;);', 'await new Promise(() => {})', '/(a+)+$/.test("a".repeat(60) + "b")'])(
  'who is gone waits no longer, and the run is killed: %s',
  async (code) => {
    const fixture = start({}, 1);
    await fixture.value('1');
    const gone = new AbortController();
    const running = fixture.run(`tools.demo.wait({ ms: 20000 }); await null; ${code}`, { signal: gone.signal });
    await waitUntil(() => fixture.calls.length === 1);
    const startedMs = performance.now();
    gone.abort();
    expect(await running).toMatchObject({ reason: 'stopped' });
    expect(performance.now() - startedMs).toBeLessThan(1000);
    expect(fixture.aborted).toBe(1);
    expect(await fixture.value('2')).toBe(2);
  },
);

test('a script of a client that left never starts', async () => {
  const fixture = start({}, 1);
  const gone = new AbortController();
  const first = fixture.run('await tools.demo.wait({ ms: 300 })');
  const second = fixture.run('1', { signal: gone.signal });
  gone.abort();
  expect(await second).toMatchObject({ reason: 'stopped', calls: 0 });
  expect(await fixture.run('1', { signal: AbortSignal.abort() })).toMatchObject({ reason: 'stopped' });
  expect((await first).reason).toBe('done');
});

test('one key gets at most half of the sandboxes', async () => {
  const fixture = start({}, 4);
  const greedy = Array.from({ length: 6 }, () =>
    fixture.run('await tools.demo.wait({ ms: 1000 })', { owner: 'greedy' }),
  );
  await waitUntil(() => fixture.calls.length === 2);
  const startedMs = performance.now();
  expect(await fixture.value('1', { owner: 'other' })).toBe(1);
  expect(performance.now() - startedMs).toBeLessThan(950);
  expect(fixture.calls).toHaveLength(2);
  expect((await Promise.all(greedy)).map(({ reason }) => reason)).toEqual(Array(6).fill('done'));
});

test('a run gets an error if all sandboxes stay busy', async () => {
  // Long enough for the first one to start beside others.
  const pool = new SandboxPool({ size: 1, waitMs: 2000 });
  const gate = Promise.withResolvers<string>();
  const job = { code: 'await tools.a.b()', tools: [['a', ['b']]] as const, signal: new AbortController().signal };
  const call = () => gate.promise;
  try {
    const first = pool.run({ ...job, call, owner: 'a' });
    await waitUntil(() => pool.counts.running === 1);
    expect(await pool.run({ ...job, call, owner: 'b' })).toMatchObject({ reason: 'busy' });
    gate.resolve('1');
    expect(await first).toMatchObject({ reason: 'done' });
  } finally {
    pool.close();
  }
});

test('sandboxes nobody uses are ended, and there again when somebody does', async () => {
  const pool = new SandboxPool({ size: 2, idleMs: 50 });
  const job = { owner: 'a', code: '1', tools: [], call: async () => '', signal: new AbortController().signal };
  try {
    expect(await pool.run(job)).toMatchObject({ reason: 'done' });
    await waitUntil(() => pool.counts.ready === 0);
    expect(await pool.run(job)).toMatchObject({ reason: 'done' });
  } finally {
    pool.close();
  }
  expect(await pool.run(job)).toMatchObject({ reason: 'busy' });
});

test('a script that goes on after its end is not left running', async () => {
  const fixture = start({}, 1);
  const code = '(async () => { await null; await null; await null; await null; for (;;); })(); 1';
  for (let i = 0; i < 3; i++) expect(await fixture.value(code)).toBe(1);
  expect(await fixture.value('tools.demo.wait({ ms: 10 }).then(() => { for (;;); }); 2')).toBe(2);
  expect(await fixture.value('3')).toBe(3);
});
