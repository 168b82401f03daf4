// Preloaded into a gateway under test: tells whenever its loop was busy for long, in processor time, so that a machine
// that is busy with something else does not count.
import { appendFileSync } from 'node:fs';

const FILE = process.env.LLM0_TEST_LOOP_FILE;
const TOLD_MS = 5;

if (FILE !== undefined && Bun.isMainThread) {
  let last = process.threadCpuUsage();
  const watch = setInterval(() => {
    const now = process.threadCpuUsage();
    const ms = (now.user + now.system - last.user - last.system) / 1000;
    if (ms > TOLD_MS) appendFileSync(FILE, `${process.pid} ${Date.now()} ${ms.toFixed(1)}\n`);
    last = now;
  }, 1);
  watch.unref();
}
