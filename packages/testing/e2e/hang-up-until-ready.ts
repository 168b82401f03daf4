import { readFileSync } from 'node:fs';

const EVERY_MS = 20;

/** Sends SIGHUP to a process from the moment it takes it, until `stop`, which returns how many. */
export function hangUpUntilReady() {
  let timer: ReturnType<typeof setInterval> | undefined;
  let sent = 0;
  const start = (pid: number): void => {
    timer = setInterval(() => {
      if (!takesHangUps(pid)) return;
      process.kill(pid, 'SIGHUP');
      sent += 1;
    }, EVERY_MS);
  };
  const stop = (): number => {
    clearInterval(timer);
    return sent;
  };
  return { start, stop };
}

/** By the mask of caught signals; SIGHUP is its lowest bit. */
function takesHangUps(pid: number): boolean {
  try {
    const [, mask = '0'] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return (BigInt(`0x${mask}`) & 1n) === 1n;
  } catch {
    return false;
  }
}
