import { readdirSync, readFileSync } from 'node:fs';

/** Signals processes by their ids; one that is gone is no error. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** SIGKILL, and waits until none of them runs any more. */
export async function endAtOnce(pids: readonly number[]): Promise<void> {
  signalAll(pids, 'SIGKILL');
  while (pids.some(isRunning)) await Bun.sleep(10);
}

/** A process and its children (a Postgres server's back ends). */
export function withChildren(pid: number): readonly number[] {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => parentOf(child) === pid);
  return [pid, ...children];
}

function parentOf(pid: number): number | undefined {
  return Number(statOf(pid)?.[1]);
}

/** A zombie has ended: its parent has only not looked yet. */
function isRunning(pid: number): boolean {
  const state = statOf(pid)?.[0];
  return state !== undefined && state !== 'Z';
}

/** State, parent and what follows: the fields after the name, which may hold spaces. */
function statOf(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
