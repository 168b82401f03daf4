import { statfsSync, writeSync } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** `f_type` of a file system in memory, from statfs(2). */
const TMPFS = 0x01021994;
/** Other requests wait for a write that takes longer. */
const SLOW_MS = 50;
const SLOW_FOR_MS = 10_000;

let slowUntilMs = 0;

/** True while writes take no longer than their copy to the page cache. */
export const isDiskFast = (): boolean => performance.now() >= slowUntilMs;

/** Called with the time of each write: after a slow one, others leave the event loop for a while. */
export function noteWrite(tookMs: number): void {
  if (tookMs > SLOW_MS) slowUntilMs = performance.now() + SLOW_FOR_MS;
}

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
  if (!isDiskFast()) return writeLater(file, bytes, at);
  const startMs = performance.now();
  for (let done = 0; done < bytes.byteLength; ) {
    done += writeSync(file.fd, bytes, done, bytes.byteLength - done, at + done);
  }
  noteWrite(performance.now() - startMs);
  return undefined;
}

async function writeLater(file: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.byteLength; ) {
    done += (await file.write(bytes, done, bytes.byteLength - done, at + done)).bytesWritten;
  }
}
