import type { FileHandle } from 'node:fs/promises';
import { freeBytes } from '@llm0/core/async/time-slices';
import type { FileRest, FormFrame } from '@llm0/core/tasks/task-request';
import { writeAll } from './unnamed-file';

const DISK_PIECE = 64 * 1024;
const STORED_BOUNDARY = 36;
const END_BYTES = '\r\n--'.length + STORED_BOUNDARY + '--\r\n'.length;

/** The rest of a file on disk. */
export class StoredRest implements FileRest {
  /** Bytes. */
  size = 0;
  private isOver = false;

  constructor(private readonly file: FileHandle) {}

  get frame(): FormFrame {
    return { bytes: this.size + END_BYTES, boundaryLength: STORED_BOUNDARY };
  }

  async append(bytes: Uint8Array): Promise<void> {
    const writing = writeAll(this.file, bytes, this.size);
    if (writing !== undefined) await writing;
    this.size += bytes.byteLength;
  }

  async *open(): AsyncGenerator<Uint8Array> {
    this.isOver = false;
    for (let at = 0; at < this.size; ) {
      const { bytesRead, buffer } = await this.file.read(Buffer.alloc(DISK_PIECE), 0, DISK_PIECE, at);
      if (bytesRead === 0) throw new Error('the stored file is shorter than it was');
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
      freeBytes(buffer);
    }
    this.isOver = true;
  }

  later(): readonly [] {
    return [];
  }

  isSpent(): boolean {
    return false;
  }

  isCutOff(): boolean {
    return !this.isOver;
  }

  blame(error: Error): Error {
    return error;
  }

  fault(): undefined {
    return undefined;
  }
}
