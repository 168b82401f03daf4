import { writeFileSync } from 'node:fs';

/** Milliseconds before the turn to which a step leaps, so that requests are under way when it comes. */
const BEFORE_TURN_MS = 1_500;

/** The clock that all gateways of a run share through a file; it only ever leaps forward. */
export class Calendar {
  private offsetMs = 0;

  constructor(readonly file: string) {
    this.write();
  }

  nowMs(): number {
    return Date.now() + this.offsetMs;
  }

  /** To just before the next UTC midnight. */
  leapToMidnight(): void {
    const now = new Date(this.nowMs());
    this.leapBefore(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1));
  }

  /** To just before the next UTC month. */
  leapToMonthEnd(leftMs: number = BEFORE_TURN_MS): void {
    const now = new Date(this.nowMs());
    this.leapBefore(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1), leftMs);
  }

  private leapBefore(turnMs: number, leftMs: number = BEFORE_TURN_MS): void {
    this.offsetMs += Math.max(0, Math.floor(turnMs - this.nowMs() - leftMs));
    this.write();
  }

  private write(): void {
    writeFileSync(this.file, String(this.offsetMs));
  }
}
