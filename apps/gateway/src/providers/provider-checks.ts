// A check that can't run says nothing about its provider; a pause ends by itself where nobody checks any more.
import { FAILURE_TABLE } from '@llm0/core/errors/error-table';
import { checkedTarget } from '@llm0/core/routing/checked-provider';
import type { SharedTargetHealth } from '@llm0/core/routing/shared-target-health';
import type { ProbeOutcome } from '@llm0/providers/probe-provider';

export interface CheckedProvider {
  readonly name: string;
  readonly intervalMs: number;
}

export interface ProviderChecksOptions {
  /** Providers with checks, as they are now. */
  readonly list: () => readonly CheckedProvider[];
  /** One free question; undefined without a connection for everybody. */
  readonly test: (provider: string) => Promise<ProbeOutcome | undefined>;
  readonly health: Pick<SharedTargetHealth, 'failed' | 'isOpen' | 'restore'>;
  readonly monotonicMs: () => number;
  readonly onChecked?: (labels: { provider: string; outcome: 'ok' | 'failed' | 'unknown' }) => void;
}

/** A pause outlasts some late checks. */
const PAUSED_INTERVALS = 2.5;
const LEAST_PAUSE_MS = 20_000;

/** Asks providers for free whether they work. The elected process does, and tells the others by target health. */
export class ProviderChecks {
  private readonly dueMs = new Map<string, number>();
  private readonly running = new Set<string>();

  constructor(private readonly options: ProviderChecksOptions) {}

  /** Begins all checks that are due; a slow one delays no other. */
  run(): void {
    const { list, monotonicMs } = this.options;
    const nowMs = monotonicMs();
    const checked = list();
    for (const name of this.dueMs.keys()) if (checked.every((one) => one.name !== name)) this.dueMs.delete(name);
    for (const one of checked) {
      if (this.running.has(one.name) || nowMs < (this.dueMs.get(one.name) ?? nowMs)) continue;
      this.dueMs.set(one.name, nowMs + one.intervalMs);
      void this.check(one);
    }
  }

  private async check({ name, intervalMs }: CheckedProvider): Promise<void> {
    const { test, monotonicMs, onChecked } = this.options;
    const startedMs = monotonicMs();
    this.running.add(name);
    try {
      const outcome = verdictOf(await test(name));
      onChecked?.({ provider: name, outcome });
      await this.tell(name, outcome, { startedMs, intervalMs });
    } catch {
      onChecked?.({ provider: name, outcome: 'unknown' });
    } finally {
      this.running.delete(name);
    }
  }

  private async tell(
    name: string,
    outcome: 'ok' | 'failed' | 'unknown',
    { startedMs, intervalMs }: { readonly startedMs: number; readonly intervalMs: number },
  ): Promise<void> {
    const { health } = this.options;
    const target = checkedTarget(name);
    const retryAfterMs = Math.max(LEAST_PAUSE_MS, PAUSED_INTERVALS * intervalMs);
    if (outcome === 'failed') health.failed(target, 'rate_limited', { startedMs, retryAfterMs });
    if (outcome === 'ok' && health.isOpen(target)) await health.restore(target.provider);
  }
}

/** A 429, an unknown path or a refused question are no failure of the provider. */
function verdictOf(outcome: ProbeOutcome | undefined): 'ok' | 'failed' | 'unknown' {
  if (outcome === undefined) return 'unknown';
  const { error } = outcome;
  if (error === undefined) return 'ok';
  return error.failure !== undefined && FAILURE_TABLE[error.failure].countsAgainstTarget ? 'failed' : 'unknown';
}
