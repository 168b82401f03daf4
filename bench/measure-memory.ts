// `bun bench/measure-memory.ts bun start`: runs a command, and prints at its end (Ctrl-C) the highest and the last memory of
// all its processes together. Imports nothing but what Bun ships: it runs before anything is installed.
import { processTree, proportionalMib } from './machine/process-stats';

const EVERY_MS = 100;

const child = Bun.spawn(process.argv.slice(2), { stdio: ['inherit', 'inherit', 'inherit'] });
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
let [most, last] = [0, 0];
while (child.exitCode === null && child.signalCode === null) {
  const mib = proportionalMib(processTree(child.pid));
  // The ending command has only its own little left.
  if (mib > most / 10) last = mib;
  most = Math.max(most, mib);
  await Bun.sleep(EVERY_MS);
}
console.log(`memory: at most ${Math.round(most)} MiB, at last ${Math.round(last)} MiB`);
