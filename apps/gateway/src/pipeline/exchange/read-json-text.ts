import { RequestBounds } from '@llm0/core/chat/json-bounds';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { nextTurn } from '@llm0/core/waits/in-turns';

/** Bytes that are decoded and judged in one turn. */
const PIECE_BYTES = 256 * 1024;

/**
 * The text of a JSON body, decoded and judged as it comes: no one step takes long, and what is too much is not read to its
 * end. Throws `invalid_request`; `invalid_json` for what is no UTF-8, where that is `fatal`.
 */
export async function readJsonText(body: ReadableStream<Uint8Array>, options: { fatal: boolean }): Promise<string> {
  const decoder = new TextDecoder('utf-8', options);
  const bounds = new RequestBounds();
  const pieces: string[] = [];
  let bytesInTurn = 0;
  for await (const chunk of body) {
    for (let at = 0; at < chunk.byteLength; at += PIECE_BYTES) {
      const bytes = chunk.subarray(at, at + PIECE_BYTES);
      bytesInTurn += bytes.byteLength;
      if (bytesInTurn > PIECE_BYTES) {
        // What has come already is given out without a turn for others.
        await nextTurn();
        bytesInTurn = bytes.byteLength;
      }
      const piece = decode(decoder, bytes);
      await bounds.check(piece);
      pieces.push(piece);
    }
  }
  pieces.push(decode(decoder));
  if (bounds.isOpen) throw new GatewayError('invalid_json', 'The request body is not valid JSON: it breaks off.');
  await nextTurn();
  return pieces.join('');
}

function decode(decoder: TextDecoder, bytes?: Uint8Array): string {
  try {
    return decoder.decode(bytes, { stream: bytes !== undefined });
  } catch (cause) {
    throw new GatewayError('invalid_json', 'The request body is not valid JSON: it is not UTF-8.', { cause });
  }
}
