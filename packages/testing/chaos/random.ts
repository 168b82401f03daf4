/** Numbers that come the same for the same seed (mulberry32). */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** 0 ≤ x < 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let x = this.state;
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 4_294_967_296;
  }

  between(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  pick<T>(list: readonly [T, ...T[]]): T {
    return list[Math.floor(this.next() * list.length)] ?? list[0];
  }

  /** One of them, in proportion to the weights. */
  pickWeighted<T extends { readonly weight: number }>(list: readonly T[]): T | undefined {
    let left = this.next() * list.reduce((sum, { weight }) => sum + weight, 0);
    return list.find(({ weight }) => {
      left -= weight;
      return left < 0;
    });
  }
}
