// Where /proc is missing (other systems than Linux), processes use no CPU and no memory: figures are 0, never wrong ones.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Kernel clock ticks per second (USER_HZ), 100 on every Linux this runs on. */
const TICKS_PER_SECOND = 100;

interface ProcessTimes {
  readonly parent: number;
  /** Its own and that of children it has waited for. */
  readonly seconds: number;
}

/** Source: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html (fields 4 and 14 to 17). */
export function parseStat(stat: string): ProcessTimes {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0);
  return { parent: Number(fields[1]), seconds: ticks / TICKS_PER_SECOND };
}

function readTimes(pid: number, path = `/proc/${pid}/stat`): ProcessTimes | undefined {
  try {
    return parseStat(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** CPU seconds of the thread that runs a process's JavaScript, without garbage collection and compilation beside it. */
export const readMainThread = (pid: number): number => readTimes(pid, `/proc/${pid}/task/${pid}/stat`)?.seconds ?? 0;

/** The process of this user that listens on a port of 127.0.0.1. */
export function findListener(port: number): number | undefined {
  const [inode] = ['tcp', 'tcp6'].flatMap((table) => listeningInodes(table, port));
  if (inode === undefined) return undefined;
  return [...readAll().keys()].find((pid) => socketsOf(pid).includes(`socket:[${inode}]`));
}

/** Source: https://docs.kernel.org/networking/proc_net_tcp.html (state 0A = listening). */
function listeningInodes(table: string, port: number): readonly string[] {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = orNone(() => readFileSync(`/proc/net/${table}`, 'utf8').split('\n').slice(1));
  const fields = lines.map((line) => line.trim().split(/\s+/));
  return fields.flatMap((field) => (field[1]?.endsWith(local) && field[3] === '0A' ? [field[9] ?? ''] : []));
}

/** Descriptors that close meanwhile, as that of the listing itself, are left out. */
function socketsOf(pid: number): readonly string[] {
  return orNone(() => readdirSync(`/proc/${pid}/fd`)).flatMap((fd) =>
    orNone(() => [readlinkSync(`/proc/${pid}/fd/${fd}`)]),
  );
}

function orNone(read: () => readonly string[]): readonly string[] {
  try {
    return read();
  } catch {
    return [];
  }
}

function readAll(): ReadonlyMap<number, ProcessTimes> {
  const all = new Map<number, ProcessTimes>();
  try {
    for (const name of readdirSync('/proc')) {
      const times = /^\d+$/.test(name) ? readTimes(Number(name)) : undefined;
      if (times !== undefined) all.set(Number(name), times);
    }
  } catch {
    // No /proc here.
  }
  return all;
}

/** A process and all its descendants. */
function treeOf(root: number, all: ReadonlyMap<number, ProcessTimes>): readonly number[] {
  const tree = [root];
  for (let i = 0; i < tree.length; i++) {
    for (const [pid, { parent }] of all) if (parent === tree[i]) tree.push(pid);
  }
  return tree;
}

/** CPU seconds used so far by each named process with its descendants, ended ones included. */
export function readCpu(roots: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  const all = readAll();
  const used = Object.entries(roots).map(([name, root]) => {
    const tree = treeOf(root, all);
    return [name, tree.reduce((sum, pid) => sum + (all.get(pid)?.seconds ?? 0), 0)] as const;
  });
  return Object.fromEntries(used);
}

/** A process and its descendants, as they are now. Reads all of /proc: milliseconds. */
export const processTree = (root: number): readonly number[] => treeOf(root, readAll());

/** Resident memory of processes in MiB; those that have ended count 0. */
export const residentMib = (pids: readonly number[]): number => sumOf(pids, 'status', /^VmRSS:\s+(\d+)/m);

/** The same, with pages that several processes share counted once. */
export const proportionalMib = (pids: readonly number[]): number => sumOf(pids, 'smaps_rollup', /^Pss:\s+(\d+)/m);

const sumOf = (pids: readonly number[], file: string, line: RegExp): number =>
  pids.reduce((sum, pid) => sum + readMib(`/proc/${pid}/${file}`, line), 0);

function readMib(path: string, line: RegExp): number {
  try {
    return Number(line.exec(readFileSync(path, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
