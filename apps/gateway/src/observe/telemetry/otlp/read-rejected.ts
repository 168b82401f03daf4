// `ExportTraceServiceResponse`: field 1 is `partial_success`, and field 1 of that is `rejected_spans`.
const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;
const LONGEST_VARINT = 10;

/** Spans that a collector refused although it took the request; 0 for a response that makes no sense. */
export function readRejectedSpans(response: Uint8Array, contentType: string): number {
  try {
    const count = contentType.includes('json') ? readJson(response) : readProto(response);
    return Number.isSafeInteger(count) && count > 0 ? count : 0;
  } catch {
    return 0;
  }
}

function readJson(response: Uint8Array): number {
  const text = new TextDecoder().decode(response);
  const { partialSuccess } = JSON.parse(text) as { partialSuccess?: { rejectedSpans?: number | string } };
  return Number(partialSuccess?.rejectedSpans ?? 0);
}

function readProto(response: Uint8Array): number {
  const partial = fieldOne(response);
  if (!(partial instanceof Uint8Array)) return 0;
  const count = fieldOne(partial);
  return typeof count === 'number' ? count : 0;
}

/** The last value of field 1, which is the one that counts. Throws for bytes that are no message. */
function fieldOne(bytes: Uint8Array): number | Uint8Array | undefined {
  let found: number | Uint8Array | undefined;
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let i = 0; i < LONGEST_VARINT; i++) {
      const byte = bytes[at++];
      if (byte === undefined) break;
      value += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80) return value;
    }
    throw new RangeError('a varint that does not end');
  };
  while (at < bytes.length) {
    const tag = varint();
    const wire = tag % 8;
    let value: number | Uint8Array;
    if (wire === WIRE.varint) value = varint();
    else {
      const length =
        wire === WIRE.bytes ? varint() : wire === WIRE.fixed64 ? 8 : wire === WIRE.fixed32 ? 4 : Number.NaN;
      if (!(at + length <= bytes.length)) throw new RangeError('a field that does not end');
      value = bytes.subarray(at, at + length);
      at += length;
    }
    if (Math.floor(tag / 8) === 1) found = value;
  }
  return found;
}
