import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileStoreSetting } from '../config/files';

/** Bytes [from, to) of a file. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/** Keeps files under their ids. A file is there as a whole or not at all. Throws if disk or bucket refuse. */
export interface FileStore {
  /** Takes the bytes as they come; returns their number. A repeated id is overwritten. */
  write(id: string, bytes: AsyncIterable<Uint8Array>): Promise<number>;
  read(id: string, range?: ByteRange): ReadableStream<Uint8Array>;
  readText(id: string, range: ByteRange): Promise<string>;
  /** A missing file is no error. */
  remove(id: string): Promise<void>;
}

/** Disk or bucket of FILE_STORE. */
export const openFileStore = (setting: FileStoreSetting): FileStore =>
  'bucket' in setting ? new BucketStore(setting) : new DiskStore(setting.folder);

/** Nobody writes a part for so long. */
const LEFT_MS = 86_400_000;

class DiskStore implements FileStore {
  private isSwept = false;

  constructor(private readonly folder: string) {}

  async write(id: string, bytes: AsyncIterable<Uint8Array>): Promise<number> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await this.sweep();
    const part = `${this.pathOf(id)}.${crypto.randomUUID()}.part`;
    const file = await open(part, 'wx', 0o600);
    try {
      let size = 0;
      for await (const piece of bytes) {
        await file.write(piece, 0, piece.byteLength, size);
        size += piece.byteLength;
      }
      await file.sync();
      await rename(part, this.pathOf(id));
      return size;
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    } finally {
      await file.close();
    }
  }

  read(id: string, range?: ByteRange): ReadableStream<Uint8Array> {
    return this.slice(id, range).stream();
  }

  readText(id: string, range: ByteRange): Promise<string> {
    return this.slice(id, range).text();
  }

  async remove(id: string): Promise<void> {
    await rm(this.pathOf(id), { force: true });
  }

  /** Removes parts that a killed process has left, once. */
  private async sweep(): Promise<void> {
    if (this.isSwept) return;
    this.isSwept = true;
    for (const name of (await readdir(this.folder)).filter((one) => one.endsWith('.part'))) {
      const path = join(this.folder, name);
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
      if (mtimeMs < Date.now() - LEFT_MS) await rm(path, { force: true });
    }
  }

  private slice(id: string, range?: ByteRange): Blob {
    const file = Bun.file(this.pathOf(id));
    return range === undefined ? file : file.slice(range.from, range.to);
  }

  private pathOf(id: string): string {
    return join(this.folder, id);
  }
}

/** The least that a part of an upload may have. */
const PART_BYTES = 5 * 1024 * 1024;

class BucketStore implements FileStore {
  private readonly client: Bun.S3Client;

  constructor(private readonly setting: Extract<FileStoreSetting, { bucket: string }>) {
    const { prefix: _, ...options } = setting;
    this.client = new Bun.S3Client(options);
  }

  /** Without a flush after each piece, the whole file would be in memory. */
  async write(id: string, bytes: AsyncIterable<Uint8Array>): Promise<number> {
    const writer = this.client.file(this.keyOf(id)).writer({ partSize: PART_BYTES, queueSize: 1, retry: 3 });
    let size = 0;
    try {
      for await (const piece of bytes) {
        writer.write(Buffer.from(piece));
        size += piece.byteLength;
        await writer.flush();
      }
      await writer.end();
      return size;
    } catch (error) {
      await Promise.resolve(writer.end(error as Error)).catch(() => {});
      await this.remove(id).catch(() => {});
      throw error;
    }
  }

  read(id: string, range?: ByteRange): ReadableStream<Uint8Array> {
    return this.slice(id, range).stream();
  }

  readText(id: string, range: ByteRange): Promise<string> {
    return this.slice(id, range).text();
  }

  async remove(id: string): Promise<void> {
    await this.client.delete(this.keyOf(id));
  }

  private slice(id: string, range?: ByteRange): Blob {
    const file = this.client.file(this.keyOf(id));
    return range === undefined ? file : file.slice(range.from, range.to);
  }

  private keyOf(id: string): string {
    return `${this.setting.prefix}${id}`;
  }
}
