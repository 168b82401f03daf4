// `terminate()` can't end a thread inside WebAssembly until it calls JavaScript, and some QuickJS loops never do
// (`[].indexOf.call({ length: 2 ** 53 })`). So every loop counts down and then calls out.

const SECTION = { type: 1, import: 2, global: 6, export: 7, code: 10 } as const;
const LOOP = 0x03;
const MEMORY_COPY = 0xfc0a;
const MEMORY_FILL = 0xfc0b;
/** The type `() => f64`, which the module's clock has and no other import. */
const CLOCK_TYPE = '60 00 01 7c';
/** Rounds of a loop that copying or filling memory counts for: the engine does it without one, up to megabytes at once. */
const BULK_ROUNDS = 4096;
/** Export for the remaining loop iterations: a mutable i32. */
export const FUEL = 'fuel';

/** Reads numbers of the binary format in place. */
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

/**
 * Adds a counter to each loop. At zero, the loop calls an imported clock, where the host decides and refills. Throws
 * for unknown code: only the pinned QuickJS must pass.
 */
export function meterWasm(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const reader = new Reader(bytes, 8);
  const parts: (Uint8Array | number[])[] = [bytes.subarray(0, 8)];
  let clockType = -1;
  let imports: Imports = { clock: -1, globals: 0 };
  let fuelIndex = 0;
  while (reader.at < bytes.length) {
    const id = reader.byte();
    const size = reader.u32();
    let content: Uint8Array | number[] = bytes.subarray(reader.at, reader.at + size);
    reader.at += size;
    if (id === SECTION.type) clockType = findType(content, CLOCK_TYPE);
    if (id === SECTION.import) imports = readImports(content, clockType);
    if (id === SECTION.global) {
      fuelIndex = imports.globals + new Reader(content).u32();
      // i32, mutable, first 0.
      content = append(content, [0x7f, 0x01, 0x41, 0x00, 0x0b]);
    }
    if (id === SECTION.export) {
      content = append(content, [FUEL.length, ...Buffer.from(FUEL), 0x03, ...writeU32(fuelIndex)]);
    }
    if (id === SECTION.code) content = meterCode(content, writeU32(fuelIndex), writeU32(imports.clock));
    parts.push([id, ...writeU32(content.length)], content);
  }
  if (imports.clock < 0) throw new Error('the WebAssembly module imports no clock');
  return join(parts);
}

/** Searches function types only; -1 if absent. */
function findType(section: Uint8Array, wanted: string): number {
  const reader = new Reader(section);
  const count = reader.u32();
  for (let index = 0; index < count; index++) {
    const from = reader.at;
    reader.byte();
    for (let list = 0; list < 2; list++) reader.skipNumbers(reader.u32());
    const bytes = [...section.subarray(from, reader.at)];
    if (bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(' ') === wanted) return index;
  }
  return -1;
}

/** Adds an entry to a section that is a counted list. */
function append(section: Uint8Array, entry: readonly number[]): Uint8Array {
  const reader = new Reader(section);
  const count = reader.u32();
  return join([writeU32(count + 1), section.subarray(reader.at), [...entry]]);
}

interface Imports {
  /** Index of the function; -1 without one. */
  readonly clock: number;
  readonly globals: number;
}

function readImports(section: Uint8Array, clockType: number): Imports {
  const reader = new Reader(section);
  let [clock, functions, globals] = [-1, 0, 0];
  for (let left = reader.u32(); left > 0; left--) {
    for (let name = 0; name < 2; name++) {
      const length = reader.u32();
      reader.at += length;
    }
    const kind = reader.byte();
    if (kind === 0) {
      if (reader.u32() === clockType) clock = functions;
      functions++;
    } else if (kind === 3) {
      reader.at += 2;
      globals++;
    } else {
      if (kind === 1) reader.at++;
      const hasMaximum = reader.byte() % 2 === 1;
      reader.skipNumbers(hasMaximum ? 2 : 1);
    }
  }
  return { clock, globals };
}

function meterCode(section: Uint8Array, fuel: readonly number[], clock: readonly number[]): Uint8Array {
  const less = (rounds: readonly number[]) => [0x23, ...fuel, 0x41, ...rounds, 0x6b, 0x24, ...fuel];
  const extra: Extra = {
    // if (fuel < 0) clock(); fuel -= 1
    inLoop: [0x23, ...fuel, 0x41, 0, 0x48, 0x04, 0x40, 0x10, ...clock, 0x1a, 0x0b, ...less([1])],
    beforeBulk: less(writeU32(BULK_ROUNDS)),
  };
  const reader = new Reader(section);
  const functions = reader.u32();
  const parts: (Uint8Array | number[])[] = [writeU32(functions)];
  for (let i = 0; i < functions; i++) {
    const size = reader.u32();
    const end = reader.at + size;
    const body = meterBody(section, reader, end, extra);
    parts.push(writeU32(body.length), body);
  }
  return join(parts);
}

interface Extra {
  readonly inLoop: readonly number[];
  readonly beforeBulk: readonly number[];
}

function meterBody(section: Uint8Array, reader: Reader, end: number, { inLoop, beforeBulk }: Extra): Uint8Array {
  const parts: (ArrayLike<number> & object)[] = [];
  let copied = reader.at;
  for (let groups = reader.u32(); groups > 0; groups--) {
    reader.skipNumber();
    reader.at++;
  }
  while (reader.at < end) {
    const from = reader.at;
    const instruction = skipInstruction(reader);
    const isBulk = instruction === MEMORY_COPY || instruction === MEMORY_FILL;
    if (instruction !== LOOP && !isBulk) continue;
    const at = isBulk ? from : reader.at;
    parts.push(section.subarray(copied, at), isBulk ? beforeBulk : inLoop);
    copied = at;
  }
  parts.push(section.subarray(copied, end));
  return join(parts);
}

/** Number of immediate operands per instruction; unlisted ones have none. */
const NUMBERS: Readonly<Record<number, number>> = {
  ...{ 2: 1, 3: 1, 4: 1, 12: 1, 13: 1, 16: 1, 17: 2, 18: 1, 19: 2 },
  ...{ 32: 1, 33: 1, 34: 1, 35: 1, 36: 1, 37: 1, 38: 1, 63: 1, 64: 1, 65: 1, 66: 1, 208: 1, 210: 1 },
};
/** Operands of instructions after 0xfc. */
const BULK_NUMBERS: readonly number[] = [0, 0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1, 1];

/** Returns the instruction; those after 0xfc with the following number. */
function skipInstruction(reader: Reader): number {
  const code = reader.byte();
  if (code === 0x0e) reader.skipNumbers(reader.u32() + 1);
  else if (code === 0x1c) reader.skipNumbers(reader.u32());
  else if (code >= 0x28 && code <= 0x3e) reader.skipNumbers(2);
  else if (code === 0x43) reader.at += 4;
  else if (code === 0x44) reader.at += 8;
  else if (code === 0xfc) {
    const bulk = reader.u32();
    const numbers = BULK_NUMBERS[bulk];
    if (numbers === undefined) throw new Error('an instruction of WebAssembly is unknown');
    reader.skipNumbers(numbers);
    return code * 256 + bulk;
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
