// A thread that is inside WebAssembly is not ended by `terminate()` until it calls JavaScript again, and QuickJS has loops of
// its own that never do (`[].indexOf.call({ length: 2 ** 53 })`). So every loop of the module counts, and traps at nothing left.

const SECTION = { import: 2, global: 6, export: 7, code: 10 } as const;
const LOOP = 0x03;
/** The name under which the module exports what its loops may still go round: a mutable i32. */
export const FUEL = 'fuel';

/** Reads the numbers of the binary format where it stands. */
class Reader {
  constructor(
    readonly bytes: Uint8Array,
    public at = 0,
  ) {}

  byte(): number {
    const value = this.bytes[this.at++];
    if (value === undefined) throw new Error('the WebAssembly module ends too early');
    return value;
  }

  u32(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }

  /** Over a number of any width. */
  skipNumber(): void {
    while (this.byte() >= 0x80) {}
  }

  skipNumbers(count: number): void {
    for (let i = 0; i < count; i++) this.skipNumber();
  }
}

function writeU32(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? low + 128 : low);
  } while (rest > 0);
  return bytes;
}

/** The module with a counter in each loop. Throws for what it cannot read: only the pinned QuickJS has to pass. */
export function meterWasm(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const reader = new Reader(bytes, 8);
  const parts: (Uint8Array | number[])[] = [bytes.subarray(0, 8)];
  let fuelIndex = 0;
  while (reader.at < bytes.length) {
    const id = reader.byte();
    const size = reader.u32();
    let content: Uint8Array | number[] = bytes.subarray(reader.at, reader.at + size);
    reader.at += size;
    if (id === SECTION.import) fuelIndex = countGlobals(content);
    if (id === SECTION.global) {
      fuelIndex += new Reader(content).u32();
      // i32, mutable, first 0.
      content = append(content, [0x7f, 0x01, 0x41, 0x00, 0x0b]);
    }
    if (id === SECTION.export) {
      content = append(content, [FUEL.length, ...Buffer.from(FUEL), 0x03, ...writeU32(fuelIndex)]);
    }
    if (id === SECTION.code) content = meterCode(content, writeU32(fuelIndex));
    parts.push([id, ...writeU32(content.length)], content);
  }
  return join(parts);
}

/** Adds an entry to a section that is a counted list. */
function append(section: Uint8Array, entry: readonly number[]): Uint8Array {
  const reader = new Reader(section);
  const count = reader.u32();
  return join([writeU32(count + 1), section.subarray(reader.at), [...entry]]);
}

function countGlobals(section: Uint8Array): number {
  const reader = new Reader(section);
  let globals = 0;
  for (let left = reader.u32(); left > 0; left--) {
    for (let name = 0; name < 2; name++) {
      const length = reader.u32();
      reader.at += length;
    }
    const kind = reader.byte();
    if (kind === 0) reader.skipNumber();
    else if (kind === 3) {
      reader.at += 2;
      globals++;
    } else {
      if (kind === 1) reader.at++;
      const hasMaximum = reader.byte() % 2 === 1;
      reader.skipNumbers(hasMaximum ? 2 : 1);
    }
  }
  return globals;
}

function meterCode(section: Uint8Array, fuelIndex: readonly number[]): Uint8Array {
  const get = [0x23, ...fuelIndex];
  // if (fuel === 0) trap; fuel -= 1
  const count = [...get, 0x45, 0x04, 0x40, 0x00, 0x0b, ...get, 0x41, 0x01, 0x6b, 0x24, ...fuelIndex];
  const reader = new Reader(section);
  const functions = reader.u32();
  const parts: (Uint8Array | number[])[] = [writeU32(functions)];
  for (let i = 0; i < functions; i++) {
    const size = reader.u32();
    const end = reader.at + size;
    const body = meterBody(section, reader, end, count);
    parts.push(writeU32(body.length), body);
  }
  return join(parts);
}

function meterBody(section: Uint8Array, reader: Reader, end: number, count: number[]): Uint8Array {
  const parts: (Uint8Array | number[])[] = [];
  let copied = reader.at;
  for (let groups = reader.u32(); groups > 0; groups--) {
    reader.skipNumber();
    reader.at++;
  }
  while (reader.at < end) {
    if (skipInstruction(reader) !== LOOP) continue;
    parts.push(section.subarray(copied, reader.at), count);
    copied = reader.at;
  }
  parts.push(section.subarray(copied, end));
  return join(parts);
}

/** Operands of instructions, as how many numbers they are; what is not listed and not in a range below has none. */
const NUMBERS: Readonly<Record<number, number>> = {
  ...{ 2: 1, 3: 1, 4: 1, 12: 1, 13: 1, 16: 1, 17: 2, 18: 1, 19: 2 },
  ...{ 32: 1, 33: 1, 34: 1, 35: 1, 36: 1, 37: 1, 38: 1, 63: 1, 64: 1, 65: 1, 66: 1, 208: 1, 210: 1 },
};
/** Those of the instructions behind 0xfc. */
const BULK_NUMBERS: readonly number[] = [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1];

/** Returns the instruction that was there. */
function skipInstruction(reader: Reader): number {
  const code = reader.byte();
  if (code === 0x0e) reader.skipNumbers(reader.u32() + 1);
  else if (code === 0x1c) reader.skipNumbers(reader.u32());
  else if (code >= 0x28 && code <= 0x3e) reader.skipNumbers(2);
  else if (code === 0x43) reader.at += 4;
  else if (code === 0x44) reader.at += 8;
  else if (code === 0xfc) {
    const numbers = BULK_NUMBERS[reader.u32()];
    if (numbers === undefined) throw new Error('an instruction of WebAssembly is unknown');
    reader.skipNumbers(numbers);
  } else {
    const hasNone = code <= 0x01 || code === 0x05 || code === 0x0b || code === 0x0f || code === 0x1a || code === 0x1b;
    const numbers = NUMBERS[code] ?? (hasNone || (code >= 0x45 && code <= 0xc4) || code === 0xd1 ? 0 : undefined);
    if (numbers === undefined) throw new Error(`the instruction 0x${code.toString(16)} of WebAssembly is unknown`);
    reader.skipNumbers(numbers);
  }
  return code;
}

function join(parts: readonly (ArrayLike<number> & object)[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
