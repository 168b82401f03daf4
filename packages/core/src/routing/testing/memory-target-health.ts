import {
  HALF_OPEN_KEPT_MS,
  type HealthReport,
  MAX_SHARED_TARGETS,
  PROBE_LEASE_MS,
  type SharedHealth,
  type TargetHealthStore,
} from '../target-health-store';

/** Times are epoch milliseconds; `openUntilMs` 0 = closed. */
interface Entry {
  openUntilMs: number;
  trips: number;
  coolUntilMs: number;
  probeOwner: string;
  probeUntilMs: number;
}

/** State shared by several processes, in memory; decides like Redis. */
export class MemoryTargetHealth {
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly nowMs: () => number = Date.now) {}

  /** The store as one process sees it. */
  open(owner: string): TargetHealthStore {
    return { exchange: async (reports) => this.exchange(owner, reports), close: () => {} };
  }

  private exchange(owner: string, reports: readonly HealthReport[]): readonly SharedHealth[] {
    const nowMs = this.nowMs();
    for (const report of reports) this.apply(owner, report, nowMs);
    const shared: SharedHealth[] = [];
    for (const [target, entry] of this.entries) {
      if (entry.openUntilMs > 0 && entry.openUntilMs + HALF_OPEN_KEPT_MS <= nowMs) close(entry);
      if (entry.openUntilMs === 0 && entry.coolUntilMs <= nowMs) this.entries.delete(target);
      else shared.push(show(target, entry, { owner, nowMs }));
    }
    return shared;
  }

  private apply(owner: string, report: HealthReport, nowMs: number): void {
    const entry = this.entries.get(report.target);
    if (entry === undefined) {
      if ((report.type !== 'open' && report.type !== 'cool') || this.entries.size >= MAX_SHARED_TARGETS) return;
      this.entries.set(report.target, { openUntilMs: 0, trips: 0, coolUntilMs: 0, probeOwner: '', probeUntilMs: 0 });
      this.apply(owner, report, nowMs);
    } else APPLY[report.type](entry, report as never, { owner, nowMs });
  }
}

interface Context {
  readonly owner: string;
  readonly nowMs: number;
}

const APPLY = {
  open: (entry: Entry, report: HealthReport & { type: 'open' }, { nowMs }: Context) => {
    // Two processes that saw the same failures open it once.
    if (report.trips < entry.trips || (report.trips === entry.trips && entry.openUntilMs > nowMs)) return;
    Object.assign(entry, { openUntilMs: nowMs + Math.ceil(report.forMs), trips: report.trips });
    Object.assign(entry, { probeOwner: '', probeUntilMs: 0 });
  },
  close: (entry: Entry) => close(entry),
  restore: (entry: Entry) => {
    close(entry);
    entry.coolUntilMs = 0;
  },
  cool: (entry: Entry, report: HealthReport & { type: 'cool' }, { nowMs }: Context) => {
    entry.coolUntilMs = Math.max(entry.coolUntilMs, nowMs + Math.ceil(report.forMs));
  },
  claim: (entry: Entry, _report: HealthReport, { owner, nowMs }: Context) => {
    if (entry.openUntilMs === 0 || entry.openUntilMs > nowMs || entry.probeUntilMs > nowMs) return;
    Object.assign(entry, { probeOwner: owner, probeUntilMs: nowMs + PROBE_LEASE_MS });
  },
} as const;

function close(entry: Entry): void {
  Object.assign(entry, { openUntilMs: 0, trips: 0, probeOwner: '', probeUntilMs: 0 });
}

function show(target: string, entry: Entry, { owner, nowMs }: Context): SharedHealth {
  const isMine = entry.probeOwner === owner && entry.openUntilMs <= nowMs;
  return {
    target,
    openForMs: entry.openUntilMs === 0 ? undefined : Math.max(0, entry.openUntilMs - nowMs),
    trips: entry.trips,
    coolForMs: Math.max(0, entry.coolUntilMs - nowMs),
    probeForMs: isMine ? Math.max(0, entry.probeUntilMs - nowMs) : 0,
  };
}
