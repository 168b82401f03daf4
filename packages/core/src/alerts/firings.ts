/** Period of a firing: from its first check to the first one without it. */
export interface Firing {
  readonly fromMs: number;
  /** null while it fires. */
  readonly toMs: number | null;
}

/** Collects, check by check in the order of time, when an alert fires. */
export class Firings {
  private readonly found: { fromMs: number; toMs: number | null }[] = [];
  private isFiring = false;
  private max: number | null = null;

  check(atMs: number, isMet: boolean, value: number | null): void {
    if (value !== null && (this.max === null || value > this.max)) this.max = value;
    if (isMet === this.isFiring) return;
    this.isFiring = isMet;
    const last = this.found.at(-1);
    if (isMet) this.found.push({ fromMs: atMs, toMs: null });
    else if (last !== undefined) last.toMs = atMs;
  }

  get firings(): readonly Firing[] {
    return this.found;
  }

  /** The highest value that was measured. */
  get highest(): number | null {
    return this.max;
  }
}

/** Stretches that may overlap or touch as such that do not, the earliest first. */
export function joinFirings(firings: readonly Firing[]): readonly Firing[] {
  const joined: Firing[] = [];
  for (const firing of firings.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = joined.at(-1);
    if (last === undefined || (last.toMs !== null && last.toMs < firing.fromMs)) joined.push(firing);
    else if (last.toMs !== null && (firing.toMs === null || firing.toMs > last.toMs)) {
      joined[joined.length - 1] = { fromMs: last.fromMs, toMs: firing.toMs };
    }
  }
  return joined;
}
