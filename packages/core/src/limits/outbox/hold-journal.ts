// If the disk refuses, only the store has the hold, as without absolute caps.
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
  writeFileSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

const NAME = /^holds-.+\.journal$/;
/** Ended requests are drained by then. */
const ENDED_MS = 10_000;
/** Age of an untouched file whose holds have been reaped. */
const GONE_MS = 10 * 60_000;
/** Ended requests in a file before it is rewritten. */
const MOST_ENDED = 1000;

/** A request with its stored hold. */
export type OpenHold = readonly [requestId: string, hold: string];

/**
 * Journal of open requests under absolute caps, one JSON a line, in a file of this process. It survives a store that
 * loses data while a process is killed. A rebuild restores the holds of all files in the folder.
 */
export class HoldJournal {
  private readonly path: string;
  private fd: number | undefined;
  /** Requests and their lines. */
  readonly open = new Map<string, string>();
  private ended: { readonly requestId: string; readonly atMs: number }[] = [];
  private lines = 0;

  constructor(
    private readonly dir: string,
    id: string,
  ) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.path = join(dir, `holds-${hostname()}-${process.pid}-${id}.journal`);
  }

  /** One write before anything is sent: the file outlives this process. */
  begin(holds: readonly OpenHold[]): void {
    let text = '';
    for (const hold of holds) {
      const line = `${JSON.stringify(hold)}\n`;
      this.open.set(hold[0], line);
      text += line;
    }
    this.lines += holds.length;
    this.write(text);
  }

  end(requestId: string): void {
    if (this.open.has(requestId)) this.ended.push({ requestId, atMs: Date.now() });
  }

  /** Runs every second: shows that the owner lives, and drops ended requests and orphaned files. */
  tick(nowMs: number): void {
    const still = this.ended.findIndex(({ atMs }) => atMs > nowMs - ENDED_MS);
    for (const { requestId } of this.ended.splice(0, still === -1 ? this.ended.length : still))
      this.open.delete(requestId);
    if (this.lines > 2 * this.open.size + MOST_ENDED || (this.lines > 0 && this.open.size === 0)) this.writeAnew();
    if (this.fd !== undefined) utimesSync(this.path, nowMs / 1000, nowMs / 1000);
    for (const path of this.files()) {
      const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: nowMs };
      if (nowMs - mtimeMs > GONE_MS) rmSync(path, { force: true });
    }
  }

  /** Open requests of all processes of the folder, dead ones included. Some may have ended. */
  readAll(): ReadonlyMap<string, string> {
    const holds = new Map<string, string>();
    const texts = [...this.files().map((path) => readFileSync(path, 'utf8')), ...this.open.values()];
    for (const line of texts.flatMap((text) => text.split('\n'))) {
      const hold = parseLine(line);
      if (hold !== undefined) holds.set(...hold);
    }
    return holds;
  }

  /** Requests still open then stay for the rebuild. */
  close(): void {
    if (this.fd === undefined) return;
    closeSync(this.fd);
    this.fd = undefined;
    for (const { requestId } of this.ended) this.open.delete(requestId);
    if (this.open.size === 0) rmSync(this.path, { force: true });
  }

  private files(): string[] {
    return readdirSync(this.dir).flatMap((name) => (NAME.test(name) ? [join(this.dir, name)] : []));
  }

  private write(text: string): void {
    try {
      this.fd ??= openSync(this.path, 'a', 0o600);
      writeSync(this.fd, text);
    } catch {}
  }

  private writeAnew(): void {
    if (this.open.size === 0) {
      if (this.fd !== undefined) ftruncateSync(this.fd, 0);
    } else {
      const next = `${this.path}.next`;
      writeFileSync(next, [...this.open.values()].join(''), { mode: 0o600 });
      renameSync(next, this.path);
      if (this.fd !== undefined) closeSync(this.fd);
      this.fd = openSync(this.path, 'a', 0o600);
    }
    this.lines = this.open.size;
  }
}

/** A kill may tear the last line, for which nothing was sent. */
function parseLine(line: string): OpenHold | undefined {
  if (line === '') return undefined;
  try {
    return JSON.parse(line) as OpenHold;
  } catch {
    return undefined;
  }
}
