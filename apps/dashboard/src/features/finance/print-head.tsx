import type { Statement } from '../../api/finance';
import { useProjectNames } from '../../api/projects';
import { useLevelNames } from '../teams/use-teams';
import { describeFilters, monthName } from './prepare-finance';

/** An instant on the zone's clocks. */
function inZone(at: string, timeZone: string): string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  return format.format(Date.parse(at));
}

interface HeadProps {
  readonly statement: Statement;
  /** Grouping, in words. */
  readonly by: string;
}

/** Header of a printed statement; the screen shows only the period. */
export function PrintHead({ statement, by }: HeadProps) {
  const { month, time_zone: zone, from, to, currency, filters, generated_at, gateway_version, is_final } = statement;
  const { closed_at, closed_by } = statement;
  const projectName = useProjectNames();
  const levelName = useLevelNames(filters);
  const facts: readonly (readonly [string, string])[] = [
    ['Period', `${inZone(from, zone)} to ${inZone(to, zone)}${is_final ? '' : ' (in progress)'}`],
    ['Time zone', zone],
    ['Currency', currency],
    ['Grouped by', by],
    ['Filters', describeFilters(filters, projectName, levelName)],
    ...(closed_at === null ? [] : [['Closed', `${inZone(closed_at, zone)} by ${closed_by}`] as const]),
    ['Generated at', `${inZone(generated_at, zone)} ${zone}`],
    ['Gateway', `LLM0 Gateway ${gateway_version}`],
  ];
  return (
    <header className="statement-head">
      <h2 className="hidden text-lg font-semibold print:block">Cost statement, {monthName(month)}</h2>
      <dl className="flex flex-wrap gap-x-6 gap-y-0.5 text-xs text-muted">
        {facts.map(([name, value]) => (
          <div key={name} className="flex min-w-0 gap-1.5">
            <dt className="shrink-0">{name}</dt>
            <dd className="nums min-w-0 text-text wrap-anywhere whitespace-normal!">{value}</dd>
          </div>
        ))}
      </dl>
    </header>
  );
}

/** The last line of a printed statement. */
export const PrintFoot = ({ statement: { month, generated_at, gateway_version } }: Pick<HeadProps, 'statement'>) => (
  <p className="hidden text-xs print:block">
    End of the cost statement for {monthName(month)} · generated {generated_at} · LLM0 Gateway {gateway_version}
  </p>
);
