import { AGAINST, type Compared, describeChanges, prepareChange } from '../format/prepare-change';
import { type Place, PlaceLink } from './place-link';

export interface Stat extends Compared {
  readonly label: string;
  /** Formatted, with its unit. */
  readonly value: string;
  readonly detail?: string;
  /** Keeps room for three lines of it on a phone, and for two where others have one. */
  readonly hasLongDetail?: true;
  /** Where its requests or its page are. */
  readonly to?: Place | undefined;
}

/** One number with its change against the previous period. */
function StatCard({
  stat,
  isLoading,
  isCompared = false,
  hasDetails = false,
}: { readonly stat: Stat } & Omit<GridProps, 'stats'>) {
  const change = prepareChange(stat);
  const content = (
    <>
      <div className="truncate text-xs text-muted">{stat.label}</div>
      <div className="nums mt-0.5 h-7 text-xl font-semibold tracking-tight">
        {isLoading ? <span className="mt-1 inline-block h-4 w-16 rounded bg-hover align-middle" /> : stat.value}
      </div>
      {isCompared && (
        <div className={`nums flex items-baseline gap-1.5 text-2xs text-faint ${heightOf(stat, hasDetails)}`}>
          {!isLoading && change !== null && (
            <span className={`shrink-0 ${TONES[change.tone]}`} title={change.title}>
              {change.text}
            </span>
          )}
          {!isLoading && stat.detail !== undefined && (
            <span
              className={`line-clamp-3 whitespace-normal sm:line-clamp-2 ${stat.hasLongDetail ? '' : 'xl:line-clamp-1'}`}
            >
              {stat.detail}
            </span>
          )}
        </div>
      )}
    </>
  );
  if (stat.to === undefined) return <div className={CARD}>{content}</div>;
  return (
    <PlaceLink {...stat.to} className={`${CARD} -outline-offset-2! hover:bg-hover`}>
      {content}
    </PlaceLink>
  );
}

const CARD = 'block min-w-0 bg-panel px-4 py-3';

/** Known before the numbers are: nothing moves when they come. */
function heightOf({ hasLongDetail, ...stat }: Stat, hasDetails: boolean): string {
  // A detail that is still to come is undefined.
  if (!hasDetails || !('detail' in stat)) return 'h-4';
  return `h-8 max-sm:flex-wrap max-sm:content-start max-sm:gap-y-0 ${hasLongDetail === true ? 'max-sm:h-16' : 'max-sm:h-12 xl:h-4'}`;
}

const TONES = { muted: 'text-muted', good: 'text-good', bad: 'text-bad' } as const;

interface GridProps {
  /** Has a line for changes, and says what they are against. */
  readonly isCompared?: boolean;
  /** True until the period before is known. */
  readonly isComparing?: boolean;
  readonly stats: readonly Stat[];
  readonly isLoading: boolean;
  /** Keeps two lines for details where one has no room. */
  readonly hasDetails?: boolean;
}

/** Cards side by side, with hairlines between them, and what their changes are against. */
export function StatGrid({ stats, isCompared = false, isComparing = false, ...rest }: GridProps) {
  const said = describeChanges(stats, isComparing);
  return (
    <div>
      <div className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border bg-line sm:grid-cols-4">
        {stats.map((stat) => (
          <StatCard key={stat.label} {...{ stat, isCompared }} {...rest} />
        ))}
      </div>
      {isCompared && (
        <p className={`mt-1 text-2xs text-muted ${said === null ? 'invisible' : ''}`}>{said ?? AGAINST}</p>
      )}
    </div>
  );
}
