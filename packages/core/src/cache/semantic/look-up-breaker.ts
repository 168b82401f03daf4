/** After a few failures in a row nothing is tried for a while, so that a sick store costs requests nothing. */
export class LookUpBreaker {
  private failures = 0;
  private pausedUntilMs = 0;
  private readonly warned = new Set<string>();

  constructor(private readonly onWarning: (message: string) => void) {}

  /** `nowMs` is monotonic. */
  isOpen(nowMs: number): boolean {
    return nowMs < this.pausedUntilMs;
  }

  /** `cause` is logged once for each process, with its `detail`. */
  fail(nowMs: number, cause: string, detail?: string): void {
    this.warnOnce(cause, detail);
    this.failures += 1;
    if (this.failures < FAILURES_IN_A_ROW) return;
    this.failures = 0;
    this.pausedUntilMs = nowMs + PAUSE_MS;
  }

  succeed(): void {
    this.failures = 0;
  }

  warnOnce(cause: string, detail?: string): void {
    if (this.warned.has(cause)) return;
    this.warned.add(cause);
    this.onWarning(detail === undefined ? cause : `${cause}: ${detail}`);
  }
}

const FAILURES_IN_A_ROW = 3;
const PAUSE_MS = 5000;
