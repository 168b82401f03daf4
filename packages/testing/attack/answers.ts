import type { HostileAnswer } from './hostile-upstream';
import { HONEST, HONEST_TOKENS, honestPieces } from './hostile-upstream';
import type { HostileWire, VendorCall } from './hostile-wire';

const SSE = { 'content-type': 'text/event-stream' };
const MEGABYTE = 1_000_000;

/** The first pieces of an honest stream, so that what follows comes to a caller who already reads. */
async function begin(wire: HostileWire, call: VendorCall, pieces: number): Promise<void> {
  await wire.head('200 OK', SSE);
  for (const piece of honestPieces(call).pieces.slice(0, pieces)) await wire.send(piece);
}

/** The same bytes again and again, as fast as they are taken, up to so many. */
async function pour(wire: HostileWire, piece: string | Uint8Array, bytes: number): Promise<void> {
  for (let sent = 0; sent < bytes && !wire.isClosed; sent += piece.length) await wire.send(piece);
  wire.end();
}

const generates = (play: HostileAnswer['play']): HostileAnswer => ({ outputTokens: HONEST_TOKENS, play });

/** A whole body with status 200. */
export const says = (body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}): HostileAnswer =>
  generates((wire) => wire.answer('200 OK', headers, body));

/** A stream that begins honestly and goes on like this for so many bytes. */
export const poursForth = (piece: string, bytes: number): HostileAnswer =>
  generates(async (wire, call) => {
    await begin(wire, call, 4);
    await pour(wire, piece, bytes);
  });

/** So many zeros, a thousandth of it on the wire. */
export function bomb(megabytes: number): HostileAnswer {
  const packed = Bun.gzipSync(new Uint8Array(megabytes * MEGABYTE).fill(32));
  return says(packed, { 'content-encoding': 'gzip' });
}

/** A compressed stream of events of the same kind. */
export function streamedBomb(megabytes: number): HostileAnswer {
  const packed = Bun.gzipSync(Buffer.from(`data: {"a":"${' '.repeat(9_980)}"}\n\n`.repeat(megabytes * 100)));
  return generates(async (wire) => {
    await wire.head('200 OK', { ...SSE, 'content-encoding': 'gzip' });
    await pour(wire, packed, packed.length);
  });
}

/** An honest beginning, then a byte at a time. */
export const trickles = (everyMs: number): HostileAnswer =>
  generates(async (wire, call) => {
    await begin(wire, call, 2);
    while (!wire.isClosed) {
      await wire.send(':');
      await Bun.sleep(everyMs);
    }
  });

/** The whole answer, a byte at a time. */
export const tricklesBody = (everyMs: number): HostileAnswer =>
  generates(async (wire) => {
    await wire.head('200 OK', { 'content-type': 'application/json', 'content-length': '100000' });
    while (!wire.isClosed) {
      await wire.send(' ');
      await Bun.sleep(everyMs);
    }
  });

/** Bytes instead of a status line. */
export const speaks = (bytes: string): HostileAnswer =>
  generates(async (wire) => {
    await wire.send(bytes);
    wire.end();
  });

/** Takes the request, makes its tokens, and says nothing. */
export const SILENT: HostileAnswer = generates((wire) => wire.closed);

/** An honest stream that ends, or breaks, after so many pieces. */
export const stopsAfter = (pieces: number, how: 'end' | 'destroy' | 'hang'): HostileAnswer =>
  generates(async (wire, call) => {
    await begin(wire, call, pieces);
    if (how === 'hang') await wire.closed;
    else wire[how]();
  });

/** A status that no vendor bills. */
export const refuses = (status: string, body = '{"error":{"message":"no"}}', headers = {}): HostileAnswer => ({
  isFree: true,
  play: (wire) => wire.answer(status, headers, body),
});

/** Stands in JSON for what JSON cannot say. */
const RAW = /"@raw:([^"]*)"/g;
export const raw = (text: string) => `@raw:${text}`;

/** An honest answer that tells another usage. */
export const tellsUsage = (usage: unknown): HostileAnswer =>
  generates(async (wire, call) => {
    const { pieces, type } = honestPieces(call);
    await wire.head('200 OK', { 'content-type': type });
    const lie = JSON.stringify(usage).replace(RAW, '$1');
    for (const piece of pieces) await wire.send(withUsage(Buffer.from(piece).toString(), lie));
    wire.end();
  });

/** Objects of no more than one level stand in a vendor's usage. */
const USAGE = /("usage(?:Metadata)?":)\{(?:[^{}]|\{[^{}]*\})*\}/g;
const withUsage = (text: string, lie: string) => text.replace(USAGE, (_all, name: string) => `${name}${lie}`);

/** An honest answer under another model's name, which is billed. */
export const answersAs = (model: (call: VendorCall) => string | undefined): HostileAnswer => ({
  outputTokens: HONEST_TOKENS,
  answeredBy: model,
  play: async (wire, call) => {
    const name = model(call) ?? call.body.model;
    const { pieces, type } = honestPieces({ ...call, body: { ...call.body, model: name ?? '' } });
    await wire.head('200 OK', { 'content-type': type });
    for (const piece of pieces) await wire.send(piece);
    wire.end();
  },
});

/** An honest answer by a vendor that reads more than was sent, and tells only what was. */
export const readsMore = (furtherInput: (call: VendorCall) => number, outputTokens = HONEST_TOKENS): HostileAnswer => ({
  ...HONEST,
  ...{ outputTokens, furtherInput },
});

/** An honest answer without a word about usage. */
export const HIDES_USAGE: HostileAnswer = generates(async (wire, call) => {
  const { pieces, type } = honestPieces(call);
  await wire.head('200 OK', { 'content-type': type });
  for (const piece of pieces) await wire.send(Buffer.from(piece).toString().replace(HIDDEN, ''));
  wire.end();
});
const HIDDEN = /,?"usage(?:Metadata)?":\{(?:[^{}]|\{[^{}]*\})*\}/g;

/** Takes the request, makes its tokens, and breaks the connection. */
export const BREAKS: HostileAnswer = generates(async (wire) => wire.destroy());

/** Accepted, to be done later. */
export const LATER: HostileAnswer = says(
  '{"id":"resp_1","object":"response","status":"queued","output":[],"usage":null}',
);
