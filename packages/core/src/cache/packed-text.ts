// Compresses large texts in another thread, so that stores spend a fraction of the time on them.
import { Readable } from 'node:stream';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import type { Held } from '../async/room';
import { decodeInSlices } from '../chat/json-in-slices';

const CHUNK_BYTES = 256 * 1024;

/** The bytes as zstd, base64. */
export async function packPieces(pieces: readonly Uint8Array[]): Promise<string> {
  const packed: Uint8Array[] = [];
  const source = Readable.from(pieces, { objectMode: false });
  for await (const chunk of source.pipe(createZstdCompress({ chunkSize: CHUNK_BYTES }))) packed.push(chunk);
  return Buffer.concat(packed).toString('base64');
}

/** Memory for unpacking. */
export type UnpackRoom = Pick<Held, 'takeAnswer'>;

/** The bytes again. Throws for anything else. `room`: how much there is shows only then. */
export async function unpackPieces(packed: string, room?: UnpackRoom): Promise<Uint8Array[]> {
  const bytes = Buffer.from(packed, 'base64');
  const pieces: Uint8Array[] = [];
  const source = Readable.from([bytes], { objectMode: false });
  const decoder = createZstdDecompress({ chunkSize: CHUNK_BYTES });
  source.on('error', (error) => decoder.destroy(error));
  for await (const chunk of source.pipe(decoder)) {
    await room?.takeAnswer(chunk.byteLength);
    pieces.push(chunk);
  }
  return pieces;
}

const MARK = 'zstd:';

/** A text as `unpackText` reads it. */
export async function packText(pieces: readonly Uint8Array[]): Promise<string> {
  return `${MARK}${await packPieces(pieces)}`;
}

/** Unpacks a packed text; returns other text unchanged. */
export async function unpackText(text: string, room?: UnpackRoom): Promise<string> {
  return text.startsWith(MARK) ? decodeInSlices(await unpackPieces(text.slice(MARK.length), room)) : text;
}
