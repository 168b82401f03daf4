export const LF = 10;
export const CR = 13;
const COLON = 58;
const SPACE = 32;
export const BOM = [0xef, 0xbb, 0xbf] as const;
export const DATA_FIELD = [100, 97, 116, 97] as const;
export const EVENT_FIELD = [101, 118, 101, 110, 116] as const;
export const DATA_START = [...DATA_FIELD, COLON, SPACE] as const;
export const EVENT_START = [...EVENT_FIELD, COLON, SPACE] as const;

/** True when the line is the field's name alone or followed by a colon. */
export function startsWith(buffer: Uint8Array, from: number, to: number, name: readonly number[]): boolean {
  const after = from + name.length;
  if (after > to || (after < to && buffer[after] !== COLON)) return false;
  for (let i = 0; i < name.length; i++) if (buffer[from + i] !== name[i]) return false;
  return true;
}

/** Past the colon and at most one space. */
export function valueStart(buffer: Uint8Array, colon: number, to: number): number {
  if (colon >= to) return to;
  return colon + 1 < to && buffer[colon + 1] === SPACE ? colon + 2 : colon + 1;
}
