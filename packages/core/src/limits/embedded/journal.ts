// If the disk refuses, `write` throws and keeps the lines; the next one starts on a fresh row.
import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

export interface JournalOptions {
  readonly dir: string;
  /** File names: `<name>-<generation>.journal`. */
  readonly name: string;
  /** Size that triggers compaction, if it is also twice the last result. */
  readonly compactBytes: number;
  /** Lines that restore the present state. */
  readonly snapshot: () => Iterable<string>;
}

/** Lines of one system call. */
const LINES_A_WRITE = 512;
const SCRATCH_BYTES = 1024 * 1024;
const encoder = new TextEncoder();

/**
 * An append-only file of lines. A line is with the operating system when `write` returns, so it survives the process.
 * Compaction writes the state as a new generation and renames it into place: one whole generation always exists.
 */
export class Journal {
  private fd = -1;
  private generation = 0;
  private bytes = 0;
  private baseBytes = 0;
  private broken = false;
  private waiting: string[] = [];
  private writtenLines = 0;
  private readonly scratch = new Uint8Array(SCRATCH_BYTES);

  constructor(private readonly options: JournalOptions) {
    mkdirSync(options.dir, { recursive: true, mode: 0o700 });
  }

  /**
   * Gives every line to `apply` and opens the file for appending. A torn last line is cut off; `skipped` counts damaged
   * lines before it (`apply` threw).
   */
  open(apply: (line: string) => void): { readonly lines: number; readonly skipped: number } {
    this.generation = this.findGeneration();
    this.fd = openSync(this.path, 'a+', 0o600);
    let lines = 0;
    let skipped = 0;
    this.bytes = readLines(this.fd, (line) => {
      try {
        apply(line);
        lines++;
      } catch {
        skipped++;
      }
    });
    if (this.bytes < fstatSync(this.fd).size) ftruncateSync(this.fd, this.bytes);
    this.baseBytes = 0;
    return { lines, skipped };
  }

  /** The line waits for the next `write`: a system call costs more than a line. Returns its number. */
  add(line: string): number {
    return this.writtenLines + this.waiting.push(line);
  }

  /** Lines that wait from this number on will never be written. */
  takeBack(number: number): void {
    this.waiting.length = Math.max(0, number - 1 - this.writtenLines);
  }

  /** Is the line of this number in the file? */
  has(number: number): boolean {
    return number <= this.writtenLines;
  }

  /** Writes all that waits. Throws when the disk refuses. */
  write(): void {
    while (this.waiting.length > 0) {
      const some = this.waiting.length <= LINES_A_WRITE ? this.waiting : this.waiting.slice(0, LINES_A_WRITE);
      this.writeRows(`${this.broken ? '\n' : ''}${some.join('\n')}\n`);
      this.broken = false;
      this.writtenLines += some.length;
      this.waiting = this.waiting.slice(some.length);
    }
  }

  private writeRows(text: string): void {
    const fits = 3 * text.length <= SCRATCH_BYTES;
    const rows = fits ? this.scratch.subarray(0, encoder.encodeInto(text, this.scratch).written) : Buffer.from(text);
    let written = 0;
    try {
      while (written < rows.length) written += writeSync(this.fd, rows, written);
      this.bytes += written;
    } catch (error) {
      if (written > 0) this.cutOff(written);
      throw error;
    }
  }

  /** Lines that were written in part are written again, and must not count twice. */
  private cutOff(written: number): void {
    try {
      ftruncateSync(this.fd, this.bytes);
    } catch {
      this.bytes += written;
      this.broken = true;
    }
  }

  /** Compacts when it is worth it. */
  compactIfLarge(): void {
    if (this.bytes > this.options.compactBytes && this.bytes > 2 * this.baseBytes) this.compact();
  }

  compact(): void {
    const next = join(this.options.dir, `${this.options.name}-${this.generation + 1}.journal`);
    const draft = `${next}.draft`;
    const fd = openSync(draft, 'w', 0o600);
    let size = 0;
    try {
      let rows: string[] = [];
      const flush = () => {
        const chunk = Buffer.from(rows.join(''));
        rows = [];
        for (let written = 0; written < chunk.length; ) written += writeSync(fd, chunk, written);
        size += chunk.length;
      };
      for (const line of this.options.snapshot()) {
        rows.push(`${line}\n`);
        if (rows.length === 256) flush();
      }
      flush();
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(draft, next);
    const old = this.path;
    closeSync(this.fd);
    this.generation++;
    this.fd = openSync(this.path, 'a', 0o600);
    rmSync(old, { force: true });
    this.bytes = size;
    this.baseBytes = size;
    this.broken = false;
    // The state contains the waiting lines.
    this.writtenLines += this.waiting.length;
    this.waiting = [];
  }

  close(): void {
    if (this.fd >= 0) closeSync(this.fd);
    this.fd = -1;
  }

  private get path(): string {
    return join(this.options.dir, `${this.options.name}-${this.generation}.journal`);
  }

  /** The newest whole generation; drafts and older ones are left-overs of a killed compaction. */
  private findGeneration(): number {
    const pattern = new RegExp(`^${this.options.name}-(\\d+)\\.journal(\\.draft)?$`);
    let newest = 0;
    const found = readdirSync(this.options.dir).flatMap((name) => {
      const match = pattern.exec(name);
      if (match === null) return [];
      if (match[2] === undefined) newest = Math.max(newest, Number(match[1]));
      return [name];
    });
    const kept = `${this.options.name}-${newest}.journal`;
    for (const name of found) if (name !== kept) rmSync(join(this.options.dir, name));
    return newest;
  }
}

const SLICE_BYTES = 1024 * 1024;

/** Gives every whole line that is not empty, a slice of the file at a time; returns where the last of them ends. */
function readLines(fd: number, take: (line: string) => void): number {
  const slice = Buffer.allocUnsafe(SLICE_BYTES);
  let rest: Buffer = Buffer.alloc(0);
  for (let end = 0, position = 0; ; ) {
    const read = readSync(fd, slice, 0, SLICE_BYTES, position);
    if (read === 0) return end;
    position += read;
    const bytes = rest.length === 0 ? slice.subarray(0, read) : Buffer.concat([rest, slice.subarray(0, read)]);
    let start = 0;
    for (let stop = bytes.indexOf(10); stop >= 0; stop = bytes.indexOf(10, start)) {
      if (stop > start) take(bytes.toString('utf8', start, stop));
      start = stop + 1;
    }
    end += start;
    rest = Buffer.from(bytes.subarray(start));
  }
}
