import type { Failover } from '../../api/routing';

interface Target {
  readonly provider: string;
  readonly model: string;
}

/** Equal switches from one target to the next. */
export interface FailoverGroup {
  readonly key: string;
  readonly from: Target;
  readonly to: Target;
  /** In words, with the status of the answer. */
  readonly reason: string;
  readonly isAnswered: boolean;
  readonly times: number;
  /** ISO 8601. */
  readonly first: string;
  readonly last: string;
  /** Median; null where the target was skipped, which takes no time. */
  readonly lostMs: number | null;
}

/** The names that other pages use. */
const REASONS: Readonly<Record<string, string>> = { breaker_open: 'paused', server_error: 'failed' };

const reasonOf = ({ trigger_reason: reason, trigger_status_code: status }: Failover): string =>
  [REASONS[reason] ?? reason.replaceAll('_', ' '), status].filter((part) => part !== null).join(' ');

/** Equal switches together, the latest first. */
export function groupFailovers(rows: readonly Failover[]): readonly FailoverGroup[] {
  const groups = Map.groupBy(rows, (row) =>
    JSON.stringify([
      ...[row.original_provider, row.original_model, row.fallback_provider, row.fallback_model],
      ...[reasonOf(row), row.fallback_succeeded],
    ]),
  );
  return [...groups]
    .map(([key, own]) => toGroup(key, own))
    .sort((a, b) => Date.parse(b.last) - Date.parse(a.last) || (a.key < b.key ? -1 : 1));
}

function toGroup(key: string, own: readonly Failover[]): FailoverGroup {
  const [row] = own as readonly [Failover];
  const times = own.map(({ created_at: at }) => at).sort();
  const lost = own.map(({ original_attempt_latency_ms: ms }) => ms ?? 0).filter((ms) => ms > 0);
  return {
    key,
    from: { provider: row.original_provider, model: row.original_model },
    to: { provider: row.fallback_provider, model: row.fallback_model },
    ...{ reason: reasonOf(row), isAnswered: row.fallback_succeeded, times: own.length },
    ...{ first: times[0] ?? '', last: times.at(-1) ?? '' },
    lostMs: lost.sort((a, b) => a - b)[Math.floor((lost.length - 1) / 2)] ?? null,
  };
}
