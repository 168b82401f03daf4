// If the disk refuses, settlements stay in memory and retry; only a killed process would lose them.
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Settlement } from '../hot-store';

const NAME = /^settlements-(.+)-(\d+)-[\w-]+\.journal$/;
/** A file of another machine that its owner has not touched for this long has no owner any more. */
const ORPHAN_MS = 30_000;

/**
 * Settlements the store has not taken (or that memory should not hold), one JSON a line, in a file of this process.
 * A process that finds such a file without an owner hands its lines in.
 */
export class SettlementFile {
  private readonly path: string;
  private fd: number | undefined;

  constructor(
    private readonly dir: string,
    id: string,
  ) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.path = join(dir, `settlements-${hostname()}-${process.pid}-${id}.journal`);
  }

  /** False when the disk refused. */
  append(settlement: Settlement): boolean {
    try {
      this.fd ??= openSync(this.path, 'a', 0o600);
      const line = Buffer.from(`${JSON.stringify(settlement)}\n`);
      return writeSync(this.fd, line) === line.length;
    } catch {
      return false;
    }
  }

  read(): Settlement[] {
    return this.fd === undefined ? [] : parseLines(this.path);
  }

  /** Everything in it is settled. */
  clear(): void {
    if (this.fd === undefined) return;
    ftruncateSync(this.fd, 0);
  }

  /** Shows other processes that the owner lives. */
  touch(nowMs: number): void {
    if (this.fd !== undefined) utimesSync(this.path, nowMs / 1000, nowMs / 1000);
  }

  /** Closes; an empty file goes, a full one stays for the next start. */
  close(): void {
    if (this.fd === undefined) return;
    closeSync(this.fd);
    this.fd = undefined;
    if (statSync(this.path, { throwIfNoEntry: false })?.size === 0) rmSync(this.path);
  }

  /**
   * Adopts the files of dead processes. Call `done` once their settlements are safe elsewhere: they may arrive twice,
   * but are never lost.
   */
  adoptOrphans(nowMs: number): { readonly settlements: readonly Settlement[]; done(): void } {
    const claimed: string[] = [];
    const settlements: Settlement[] = [];
    for (const name of readdirSync(this.dir)) {
      const path = join(this.dir, name);
      if (path === this.path || !isOrphan(path, name, nowMs)) continue;
      const claim = `${this.path}.${claimed.length}.claimed`;
      try {
        renameSync(path, claim);
      } catch {
        continue;
      }
      claimed.push(claim);
      settlements.push(...parseLines(claim));
    }
    return { settlements, done: () => claimed.forEach((path) => void rmSync(path, { force: true })) };
  }
}

function isOrphan(path: string, name: string, nowMs: number): boolean {
  const match = NAME.exec(name.replace(/(\.\d+\.claimed)+$/, ''));
  if (match === null) return false;
  const pid = Number(match[2]);
  if (match[1] === hostname()) return pid === process.pid || !isAlive(pid);
  return nowMs - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? nowMs) > ORPHAN_MS;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The last line may be torn by a kill; then its request was never answered as complete. */
function parseLines(path: string): Settlement[] {
  const settlements: Settlement[] = [];
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (line === '') continue;
    try {
      settlements.push(JSON.parse(line) as Settlement);
    } catch {}
  }
  return settlements;
}
