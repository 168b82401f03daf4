import { expect, test } from 'bun:test';
import { Worker } from 'node:worker_threads';
import { AskedThread } from './asked-thread';

/** Echoes a question; dies of `die`, and ends by itself on `end`. */
const ECHO = `
  const { parentPort } = require('node:worker_threads');
  parentPort.on('message', ({ id, question }) => {
    if (question === 'die') throw new Error('killed by a question');
    if (question === 'end') process.exit(0);
    if (question !== 'wait') parentPort.postMessage({ id, answer: question });
  });`;

function open(start = () => new Worker(ECHO, { eval: true, env: {} })) {
  const broken: string[] = [];
  const thread = new AskedThread<string, string>({ start, onBroken: ({ message }) => broken.push(message) });
  return { thread, broken };
}

test.each([
  ['die', /killed by a question/],
  ['end', /the thread ended/],
])(
  'a thread that breaks (%s) fails all that wait, says so once, and the next question starts another',
  async (question, reason) => {
    const { thread, broken } = open();
    const waiting = thread.ask('wait');
    await expect(Promise.all([waiting, thread.ask(question)])).rejects.toThrow(reason);
    await expect(waiting).rejects.toThrow(reason);
    await expect(thread.ask(question)).rejects.toThrow(reason);
    expect(broken).toHaveLength(1);
    expect(await thread.ask('hello')).toBe('hello');
    await expect(thread.ask(question)).rejects.toThrow(reason);
    expect(broken).toHaveLength(2);
    expect(await thread.ask('again')).toBe('again');
    thread.stop();
  },
);

test('a thread that can not start fails the question alone', async () => {
  let threads = 0;
  const { thread, broken } = open(() => {
    if (threads++ < 2) throw new Error('no threads left');
    return new Worker(ECHO, { eval: true, env: {} });
  });
  await expect(thread.ask('first')).rejects.toThrow('no threads left');
  await expect(thread.ask('second')).rejects.toThrow('no threads left');
  expect(await thread.ask('third')).toBe('third');
  expect(broken).toEqual(['no threads left']);
  thread.stop();
});
