import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { SandboxFixture } from './sandbox.fixture';

const sandbox = new SandboxFixture();
afterAll(() => sandbox.pool.close());
beforeEach(() => {
  sandbox.calls.length = 0;
});

describe('results of a script', () => {
  const cases: readonly (readonly [code: string, value: unknown])[] = [
    ['1 + 1', 2],
    ['return 1 + 1', 2],
    ['const x = 20; x * 2 + 2', 42],
    ['const x = await Promise.resolve(21);\nreturn x * 2', 42],
    ['const x = await Promise.resolve(21); x * 2', 42],
    ['if (1 > 0) { "yes" } else { "no" }', 'yes'],
    ['async () => { return [await 7]; }', [7]],
    ['(async () => 5)()', 5],
    ['async function main() { return { deep: true }; }\nmain()', { deep: true }],
    ['', null],
    ['undefined', null],
    ['return', null],
    ['({ a: undefined, b: () => 1, c: null })', { c: null }],
    ['"// return" + 1', '// return1'],
    ['// only a comment\nreturn "ünïcödé 🎉"', 'ünïcödé 🎉'],
    ['new Date(0)', '1970-01-01T00:00:00.000Z'],
    ['[1,,3]', [1, null, 3]],
    ['await new Promise((done) => setTimeout(done, 20, "later"))', 'later'],
  ];
  test.each(cases)('%s', async (code, value) => {
    expect(await sandbox.value(code)).toEqual(value as never);
  });

  test('errors come back with their position', async () => {
    const outcome = await sandbox.run('const a = 1;\nnull.x');
    expect(outcome).toMatchObject({ reason: 'error' });
    expect(outcome.text).toStartWith('TypeError: ');
    expect(outcome.text).toContain('script.js:2');
  });

  test.each([
    ['throw { code: 7 }', 'thrown: {"code":7}'],
    ['throw undefined', 'thrown: undefined'],
    ['throw Symbol("s")', 'thrown: Symbol(s)'],
    ['Promise.reject(new RangeError("late"))', 'RangeError: late'],
    ['const const = 1', 'SyntaxError: '],
    ['10n', 'TypeError: '],
    ['const a = {}; a.a = a; a', 'TypeError: circular reference'],
    ['import fs from "fs"', 'SyntaxError: '],
    ['throw { get message() { throw 1 }, toString() { throw 2 } }', 'thrown: '],
    ['throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } })', 'Error: thrown was a value'],
  ])('%s is told as an error', async (code, text) => {
    const outcome = await sandbox.run(code);
    expect(outcome).toMatchObject({ reason: 'error' });
    expect(outcome.text).toStartWith(text);
  });

  test('all levels of the console come back, whatever is logged', async () => {
    const outcome = await sandbox.run(`
      console.log('a', 1, { b: [2] }); console.info(null, undefined); console.warn('careful'); console.error(new Error('bad'));
      console.log(Symbol('s'), 10n, () => 1, { get x() { throw 1 } });`);
    expect(outcome.reason).toBe('done');
    expect(outcome.logs.slice(0, 3)).toEqual(['a 1 {"b":[2]}', 'null undefined', 'warn: careful']);
    expect(outcome.logs[3]).toStartWith('error: Error: bad');
    expect(outcome.logs[4]).toStartWith('Symbol(s) 10 ');
  });
});

describe('calls of tools', () => {
  test('run at once where the script asks so', async () => {
    await sandbox.value('1');
    const startedMs = performance.now();
    const code = 'await Promise.all([1, 2, 3, 4, 5].map((n) => tools.demo.wait({ ms: 200, n })))';
    expect(await sandbox.value(code)).toHaveLength(5);
    expect(performance.now() - startedMs).toBeLessThan(700);
  });

  test('an error of a tool is an Error with its text', async () => {
    const code =
      'try { await tools.demo.fail({ message: "no such file" }) } catch (e) { [e instanceof Error, e.name, e.message] }';
    expect(await sandbox.value(`let got; ${code.replace('[e', 'got = [e')}; got`)).toEqual([
      true,
      'ToolError',
      'no such file',
    ]);
    const outcome = await sandbox.run('await tools.demo.fail({ message: "no such file" })');
    expect(outcome).toMatchObject({ reason: 'error', calls: 1 });
    expect(outcome.text).toStartWith('ToolError: no such file');
  });

  test.each(['odd name!', '__proto__', 'then', 'quote\'"\\', 'ünï.cödé'])(
    '%s can be called by its name',
    async (name) => {
      const code = `tools["demo"][${JSON.stringify(name)}]({ a: 1 })`;
      expect(await sandbox.value(code)).toEqual({ name, args: { a: 1 } });
    },
  );

  test('servers and tools may have names of the language', async () => {
    expect(await sandbox.value('tools["__proto__"].echo({})')).toMatchObject({ name: 'echo' });
    expect(await sandbox.value('tools["git-hub"].constructor({})')).toMatchObject({ name: 'constructor' });
    expect(sandbox.calls.map(({ server }) => server)).toEqual(['__proto__', 'git-hub']);
  });

  test('a name that is not there is told so, and nothing is called', async () => {
    expect((await sandbox.run('tools.demo.ecoh({})')).text).toContain('There is no tool "ecoh" of "demo"');
    expect((await sandbox.run('tools.dmeo.echo({})')).text).toContain('There is no server "dmeo"');
    expect(sandbox.calls).toEqual([]);
  });

  test.each(['5', '"text"', '[1]', 'null', '() => 1'])('arguments of %s are refused', async (args) => {
    expect((await sandbox.run(`await tools.demo.echo(${args})`)).text).toStartWith(
      'TypeError: A tool takes one object',
    );
    expect(sandbox.calls).toEqual([]);
  });

  test('calls nobody waited for are aborted with the end of the script', async () => {
    expect(await sandbox.value('tools.demo.wait({ ms: 20000 }); 1')).toBe(1);
    expect(sandbox.calls[0]?.signal.aborted).toBe(true);
  });

  test('any JSON crosses the bridge unchanged', async () => {
    const object = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' }));
    const law = fc.asyncProperty(object, async (args) => {
      const wellFormed = JSON.parse(JSON.stringify(args)) as object;
      const code = `tools.demo.echo(JSON.parse(${JSON.stringify(JSON.stringify(args))}))`;
      const { args: back } = (await sandbox.value(code)) as { args: unknown };
      expect(JSON.stringify(back)).toBe(JSON.stringify(wellFormed));
    });
    await fc.assert(law, { numRuns: runs(150) });
  });

  test('no text is code', async () => {
    const law = fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
      expect(await sandbox.value(`return (await tools.demo.echo({ text: ${JSON.stringify(text)} })).args.text`)).toBe(
        text.toWellFormed() === text ? text : JSON.parse(JSON.stringify(text)),
      );
    });
    await fc.assert(law, { numRuns: runs(100) });
  });
});

test('nothing of a run is there in the next one', async () => {
  const fixture = new SandboxFixture({}, 1);
  try {
    await fixture.value(`globalThis.left = 1; Array.prototype.left = 2; Object.prototype.left = 3; JSON.stringify = () => '"mine"';
      Promise.prototype.then = () => {}; tools.demo = 1; console.log = 1; Math.random = () => 4; 5`);
    const code =
      '[typeof left, typeof [].left, typeof ({}).left, JSON.stringify(1), typeof tools.demo.echo, Math.random() < 1]';
    expect(await fixture.value(code)).toEqual(['undefined', 'undefined', 'undefined', '1', 'function', true]);
    const randoms = [await fixture.value('Math.random()'), await fixture.value('Math.random()')];
    expect(randoms[0]).not.toBe(randoms[1]);
  } finally {
    fixture.pool.close();
  }
});
