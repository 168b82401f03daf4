const PAGE_BYTES = 65_536;
const EMPTY = Buffer.alloc(PAGE_BYTES);

/** Snapshot of a memory; zero pages cost nothing. The memory must not grow. */
export class MemoryImage {
  private readonly pages: readonly Buffer[];

  constructor(private readonly memory: WebAssembly.Memory) {
    this.pages = pagesOf(memory).map((page) => (page.equals(EMPTY) ? EMPTY : Buffer.from(page)));
  }

  /** Restores the memory byte by byte. Returns the number of changed pages. */
  restore(): number {
    let changed = 0;
    for (const [index, page] of pagesOf(this.memory).entries()) {
      const before = this.pages[index] ?? EMPTY;
      if (page.equals(before)) continue;
      before.copy(page);
      changed++;
    }
    return changed;
  }
}

function pagesOf({ buffer }: WebAssembly.Memory): Buffer[] {
  const count = buffer.byteLength / PAGE_BYTES;
  return Array.from({ length: count }, (_, index) => Buffer.from(buffer, index * PAGE_BYTES, PAGE_BYTES));
}
