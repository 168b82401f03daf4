import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface DataDirLock {
  /** Idempotent. */
  release(): void;
}

/** Locks this process holds, by file: taking one twice in a process is allowed and counted. */
const held = new Map<string, number>();

/**
 * Allows one gateway in a data folder. Takes over the lock of a dead process, even with its pid reused. Throws a
 * one-line error if another gateway runs.
 */
export function lockDataDir(dataDir: string): DataDirLock {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, 'lock');
  const count = held.get(path) ?? 0;
  if (count === 0) takeLock(path, dataDir);
  held.set(path, count + 1);
  let released = false;
  return {
    release() {
      if (released) return;
      released = true;
      const left = (held.get(path) ?? 1) - 1;
      if (left > 0) {
        held.set(path, left);
        return;
      }
      held.delete(path);
      rmSync(path, { force: true });
    },
  };
}

function takeLock(path: string, dataDir: string): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, processIdentity(process.pid) ?? String(process.pid), { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < 10; attempt++) {
      if (tryLink(draft, path)) return;
      const owner = readIdentity(path);
      if (owner !== null && isAlive(owner)) {
        const pid = owner.split(' ')[0];
        throw new Error(`${dataDir} is in use by another gateway (pid ${pid}); stop it or set another DATA_DIR`);
      }
      if (owner !== null) moveStaleAside(path, `${draft}.stale`, owner);
    }
    throw new Error(`${path} could not be taken; remove it if no gateway is running`);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Renaming is atomic; if it caught another process's new lock, it puts that back. */
function moveStaleAside(path: string, aside: string, stale: string): void {
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  if (readIdentity(aside) !== stale) tryLink(aside, path);
  rmSync(aside, { force: true });
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

function readIdentity(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return null;
  }
}

/** `<pid> <start time>`; the start time identifies a reused pid. null if dead. */
export function processIdentity(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : `${pid} ${fields[19]}`;
  } catch {
    if (process.platform === 'linux') return null;
  }
  try {
    process.kill(pid, 0);
    return String(pid);
  } catch (error) {
    const forbidden = error instanceof Error && 'code' in error && error.code === 'EPERM';
    return forbidden ? String(pid) : null;
  }
}

/** Is the process that wrote this identity still running? Never true for this process itself (its locks are in `held`). */
export function isAlive(identity: string): boolean {
  const pid = Number(identity.split(' ')[0]);
  if (!Number.isSafeInteger(pid) || pid <= 0 || pid === process.pid) return false;
  return processIdentity(pid) === identity;
}
