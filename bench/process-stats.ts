import { readFileSync } from 'node:fs';

/** Kernel clock ticks per second (USER_HZ), 100 on every Linux this runs on. */
const TICKS_PER_SECOND = 100;

/** CPU seconds a process has used so far, user and system; 0 where /proc is missing. */
export function cpuSeconds(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}

/** Resident memory of a process in MiB, now and at its peak. */
export function memoryMib(pid: number): { readonly now: number; readonly peak: number } {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
    return { now: kib('VmRSS') / 1024, peak: kib('VmHWM') / 1024 };
  } catch {
    return { now: 0, peak: 0 };
  }
}
