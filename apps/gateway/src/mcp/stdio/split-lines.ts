/** A line longer than the bound. */
export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError';
}

const NEWLINE = 0x0a;

/** Splits a byte stream into decoded lines; keeps at most `maxBytes` of an incomplete one. */
export class LineSplitter {
  private pieces: Uint8Array[] = [];
  private kept = 0;

  constructor(private readonly maxBytes: number) {}

  /** The lines that `chunk` completes, without their ends. Throws `LineTooLongError`. */
  push(chunk: Uint8Array): string[] {
    const lines: string[] = [];
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      lines.push(this.take(chunk.subarray(from, at)));
      from = at + 1;
    }
    if (from < chunk.byteLength) this.keep(chunk.subarray(from));
    return lines;
  }

  /** Rest of a stream that ends without a newline; '' without one. */
  end(): string {
    return this.take(new Uint8Array());
  }

  private keep(piece: Uint8Array): void {
    this.kept += piece.byteLength;
    if (this.kept > this.maxBytes) throw new LineTooLongError(`a line of more than ${this.maxBytes} bytes`);
    // The chunk is its stream's, which may use it again.
    this.pieces.push(Uint8Array.from(piece));
  }

  private take(last: Uint8Array): string {
    if (this.kept + last.byteLength > this.maxBytes)
      throw new LineTooLongError(`a line of more than ${this.maxBytes} bytes`);
    const bytes = this.pieces.length === 0 ? last : Buffer.concat([...this.pieces, last]);
    this.pieces = [];
    this.kept = 0;
    const text = new TextDecoder().decode(bytes);
    return text.endsWith('\r') ? text.slice(0, -1) : text;
  }
}
