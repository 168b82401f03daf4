/** Text of bytes by position. Decodes all of them at once, where each is a character. */
export class PlainText {
  private all: string | undefined;

  constructor(
    private readonly decoder: TextDecoder,
    private readonly bytes: Uint8Array,
    /** Position of the first byte that is read. */
    readonly first: number,
  ) {}

  /** From `first` on; undefined where a character takes several bytes. */
  whole(): string | undefined {
    this.all ??= this.decoder.decode(this.first === 0 ? this.bytes : this.bytes.subarray(this.first));
    return this.all.length === this.bytes.length - this.first ? this.all : undefined;
  }

  of(from: number, to: number): string {
    const { first } = this;
    return this.whole()?.slice(from - first, to - first) ?? this.decoder.decode(this.bytes.subarray(from, to));
  }
}
