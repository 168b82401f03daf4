import { statfsSync, writeSync } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** `f_type` of a file system in memory, from statfs(2). */
const TMPFS = 0x01021994;
/** Other requests wait for a write that takes longer. */
const SLOW_MS = 50;
const SLOW_FOR_MS = 10_000;

/** After a slow write, others leave the event loop for a while. */
export class DiskPace {
  private slowUntilMs = 0;

  constructor(private readonly nowMs = () => performance.now()) {}

  /** True while writes take no longer than their copy to the page cache. */
  get isFast(): boolean {
    return this.nowMs() >= this.slowUntilMs;
  }

  /** Runs a write in the event loop. */
  time(write: () => void): void {
    const startMs = this.nowMs();
    write();
    const endMs = this.nowMs();
    if (endMs - startMs > SLOW_MS) this.slowUntilMs = endMs + SLOW_FOR_MS;
  }
}

export const diskPace = new DiskPace();

/** True where a file takes disk and not memory. */
export function isOnDisk(): boolean {
  try {
    return statfsSync(tmpdir()).type !== TMPFS;
  } catch {
    return false;
  }
}

/** A file that nobody finds: its name is gone before its first byte. It ends when it is closed. */
export async function openUnnamed(): Promise<FileHandle> {
  const path = join(tmpdir(), `llm0-${crypto.randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
}

/** Writes all bytes; undefined: done at once. */
export function writeAll(file: FileHandle, bytes: Uint8Array, at: number): Promise<void> | undefined {
  if (!diskPace.isFast) return writeLater(file, bytes, at);
  diskPace.time(() => {
    for (let done = 0; done < bytes.byteLength; ) {
      done += writeSync(file.fd, bytes, done, bytes.byteLength - done, at + done);
    }
  });
  return undefined;
}

async function writeLater(file: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.byteLength; ) {
    done += (await file.write(bytes, done, bytes.byteLength - done, at + done)).bytesWritten;
  }
}
