// Separators as an address writes them: `%20`, `%2D`, `%E2%80%91`.

const LONGEST = 9;

function escapeOf(code: number): string {
  const char = String.fromCharCode(code);
  const escaped = code < 128 ? `%${code.toString(16).padStart(2, '0')}` : encodeURIComponent(char);
  return escaped.toUpperCase();
}

/** Escapes of some characters, by the kind of their character. */
export class EscapedMarks {
  private readonly bits = new Map<string, number>();
  /** Incomplete escapes at the end of a text. */
  private readonly begins = new Set<string>();

  constructor(codes: readonly number[], bitOf: (code: number) => number) {
    for (const code of codes) {
      const escaped = escapeOf(code);
      this.bits.set(escaped, bitOf(code));
      for (let length = 1; length < escaped.length; length++) this.begins.add(escaped.slice(0, length));
    }
  }

  /** Length of the escape at `at`; 0 without one. */
  lengthAt(text: string, at: number): number {
    if (text.charCodeAt(at) !== 37) return 0;
    for (let length = 3; length <= LONGEST; length += 3) if (this.isOne(text, at, length)) return length;
    return 0;
  }

  /** Kind of the escape at `at` with this length; 0 without one. */
  bitAt(text: string, at: number, length: number): number {
    return this.bits.get(text.slice(at, at + length).toUpperCase()) ?? 0;
  }

  /** Length of the escape that ends before `end`; 0 without one. */
  lengthBefore(text: string, end: number): number {
    if (text.charCodeAt(end - 3) !== 37) return 0;
    for (let length = 3; length <= LONGEST; length += 3) if (this.isOne(text, end - length, length)) return length;
    return 0;
  }

  /** Length of an incomplete escape at the end of the text. */
  openLength(text: string): number {
    for (let length = LONGEST - 1; length > 0; length--) {
      const rest = text.slice(-length);
      if (rest.charCodeAt(0) === 37 && this.begins.has(rest.toUpperCase())) return length;
    }
    return 0;
  }

  private isOne(text: string, at: number, length: number): boolean {
    return at >= 0 && text.charCodeAt(at) === 37 && this.bitAt(text, at, length) !== 0;
  }
}
