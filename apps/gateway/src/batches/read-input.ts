import { GatewayError } from '@llm0/core/errors/gateway-error';

/** A line that isn't empty, with its place in the file. */
export interface InputLine {
  /** From 1, empty ones counted. */
  readonly number: number;
  readonly at: number;
  readonly length: number;
  readonly text: string;
}

const NEWLINE = 0x0a;

/** Lines of a file, one at a time. Throws `request_too_large` for one beyond `maxBytes`. */
export async function* readInput(bytes: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<InputLine> {
  let pieces: Uint8Array[] = [];
  let [at, length, number] = [0, 0, 0];
  const take = (): InputLine | undefined => {
    number += 1;
    const text = Buffer.concat(pieces, length).toString('utf8').trim();
    const line = text === '' ? undefined : { number, at, length, text };
    pieces = [];
    return line;
  };
  const add = (piece: Uint8Array) => {
    length += piece.byteLength;
    if (length > maxBytes) throw tooLong(number + 1, maxBytes);
    pieces.push(piece);
  };
  for await (const chunk of bytes) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      add(chunk.subarray(from, end));
      const line = take();
      if (line !== undefined) yield line;
      at += length + 1;
      length = 0;
      from = end + 1;
    }
    if (from < chunk.byteLength) add(chunk.slice(from));
  }
  const last = take();
  if (last !== undefined) yield last;
}

const tooLong = (number: number, maxBytes: number) =>
  new GatewayError('request_too_large', `Line ${number} has more than ${maxBytes} bytes.`, { param: 'input_file_id' });
