/** Live processes on one hot store. They split limits of concurrent requests, which no request waits to agree on. */
export class Peers {
  /** True once there is something to split: only then does a process let the others count it. */
  isNeeded = false;
  private count = 1;
  private index = 0;

  /** `index`: this process's place among the live ones, from 0. Without news, the last state counts. */
  note(count: number, index: number): void {
    this.count = count;
    this.index = index;
  }

  /** This process's part of a limit; at least 1, so that each process can work. */
  shareOf(limit: number): number {
    const { count, index } = this;
    return Math.max(1, Math.floor(limit / count) + (index < limit % count ? 1 : 0));
  }
}
