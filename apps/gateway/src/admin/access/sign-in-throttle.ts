/** Wrong sign-ins an address may make in a minute. */
const MAX_FAILURES = 10;
const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 10_000;

interface Failures {
  count: number;
  readonly sinceMs: number;
}

/** Counts wrong sign-ins by client address, in bounded memory: the address seen first is forgotten first. */
export class SignInThrottle {
  private readonly failures = new Map<string, Failures>();

  constructor(private readonly nowMs: () => number) {}

  /** Milliseconds until this address may fail again; 0 when it may now. Counts the failure in that case. */
  fail(address: string): number {
    const now = this.nowMs();
    const known = this.failures.get(address);
    if (known === undefined || now - known.sinceMs >= WINDOW_MS) {
      this.failures.delete(address);
      this.failures.set(address, { count: 1, sinceMs: now });
      this.forgetOldest();
      return 0;
    }
    if (known.count >= MAX_FAILURES) return known.sinceMs + WINDOW_MS - now;
    known.count += 1;
    return 0;
  }

  private forgetOldest(): void {
    if (this.failures.size <= MAX_ADDRESSES) return;
    const oldest = this.failures.keys().next().value;
    if (oldest !== undefined) this.failures.delete(oldest);
  }
}
