import { changeOf, formatChange, formatPoints, pointsOf } from '../format/format-number';

export interface Stat {
  readonly label: string;
  /** Formatted, with its unit. */
  readonly value: string;
  readonly now: number | null;
  readonly before: number | null;
  /** Direction of improvement; absent if neutral. */
  readonly better?: 'more' | 'less';
  /** A share (0…1), which changes by percentage points. */
  readonly isShare?: true;
  readonly detail?: string;
}

/** One number with its change against the previous period. */
function StatCard({
  stat,
  isLoading,
  hasDetails = false,
}: { readonly stat: Stat } & Omit<GridProps, 'stats' | 'isCompared'>) {
  const [changed, format] = stat.isShare === true ? [pointsOf, formatPoints] : [changeOf, formatChange];
  const change = changed(stat.now, stat.before);
  return (
    <div className="min-w-0 bg-panel px-4 py-3">
      <div className="truncate text-xs text-muted">{stat.label}</div>
      <div className="nums mt-0.5 h-7 text-xl font-semibold tracking-tight">
        {isLoading ? <span className="mt-1 inline-block h-4 w-16 rounded bg-hover align-middle" /> : stat.value}
      </div>
      <div
        className={`nums flex items-baseline gap-1.5 text-2xs text-faint ${hasDetails ? 'h-8 max-sm:h-auto max-sm:min-h-8 max-sm:flex-wrap max-sm:gap-y-0' : 'h-4'}`}
      >
        {!isLoading && change !== null && (
          <span className={`shrink-0 ${toneOf(change, stat.better)}`} title="Against the previous period">
            {format(change)}
          </span>
        )}
        {!isLoading && stat.detail !== undefined && (
          <span className="whitespace-normal sm:line-clamp-2">{stat.detail}</span>
        )}
      </div>
    </div>
  );
}

function toneOf(change: number, better: Stat['better']): string {
  if (better === undefined || Math.abs(change) < 0.0005) return 'text-muted';
  return change > 0 === (better === 'more') ? 'text-good' : 'text-bad';
}

const AGAINST = 'Changes compare with the same length of time before.';
const NO_CHANGES = 'No changes: the log has no whole period before this one.';

interface GridProps {
  /** Says what changes are against. */
  readonly isCompared?: boolean;
  readonly stats: readonly Stat[];
  readonly isLoading: boolean;
  /** Keeps two lines for details where one has no room. */
  readonly hasDetails?: boolean;
}

/** Cards side by side, with hairlines between them, and what their changes are against. */
export function StatGrid({ stats, isCompared = false, ...rest }: GridProps) {
  const hasChanges = stats.some(({ before }) => before !== null);
  return (
    <div>
      <div className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border bg-line sm:grid-cols-4">
        {stats.map((stat) => (
          <StatCard key={stat.label} stat={stat} {...rest} />
        ))}
      </div>
      {isCompared && <p className="mt-1 text-2xs text-muted">{hasChanges ? AGAINST : NO_CHANGES}</p>}
    </div>
  );
}
