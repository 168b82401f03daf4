interface Closable {
  close(): Promise<unknown>;
}

interface Kept<T> {
  readonly key: string;
  readonly value: T;
}

/**
 * What is costly to start, kept for the next file of this process that asks for the same. The test command ends what is
 * left with the process.
 */
export class Shared<T extends Closable> {
  private readonly idle: Kept<T>[] = [];

  /** `most`: so many wait for the next file; beyond that the one that waits longest is closed. */
  constructor(
    private readonly most: number,
    private readonly isUsable: (value: T) => boolean,
  ) {}

  async take(key: string, start: () => Promise<T>): Promise<T> {
    const index = this.idle.findIndex((one) => one.key === key);
    const [kept] = index < 0 ? [] : this.idle.splice(index, 1);
    if (kept !== undefined && this.isUsable(kept.value)) return kept.value;
    await kept?.value.close();
    return start();
  }

  async giveBack(key: string, value: T): Promise<void> {
    this.idle.push({ key, value });
    if (this.idle.length > this.most) await this.idle.shift()?.value.close();
  }
}
