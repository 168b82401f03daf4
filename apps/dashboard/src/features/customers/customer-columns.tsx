import { formatCents, formatUsd } from '../../format/format-usd';
import { Badge } from '../../ui/badge';
import type { Column } from '../../ui/table/column';
import { ManagedMark } from '../forms/managed-set';
import type { Outlook } from '../projects/spending/prepare-outlooks';
import { daysColumn, outlookColumn } from '../projects/spending/spending-columns';
import type { CustomerLine } from './prepare-customers';

/** `$0.10 of $1.00 today, $2.00 of $5.00 this month in Shop`: the one project that limits it, or the number of those. */
export function describeLimits(
  { limits }: Pick<CustomerLine, 'limits'>,
  projectName: (id: string) => string,
): string | null {
  const [one, ...others] = limits;
  if (one === undefined) return null;
  if (others.length > 0) return `in ${limits.length} projects`;
  const { daily_spend_limit_usd: daily, monthly_spend_limit_usd: monthly, today_usd: today, month_usd: month } = one;
  const parts = [
    ...(daily === null ? [] : [`${formatCents(today)} of ${formatCents(daily)} today`]),
    ...(monthly === null ? [] : [`${formatCents(month)} of ${formatCents(monthly)} this month`]),
  ];
  return `${parts.length === 0 ? 'requests' : parts.join(', ')} in ${projectName(one.project_id)}`;
}

interface SmallProps {
  readonly row: CustomerLine;
  readonly outlook: Outlook | undefined;
  readonly projectName: (id: string) => string;
}

/** Below the name where the columns are hidden. */
function SmallLine({ row, outlook, projectName }: SmallProps) {
  const limits = describeLimits(row, projectName);
  return (
    <span className="block text-2xs font-normal whitespace-normal text-muted 2xl:hidden">
      {row.monthUsd !== null && <span className="block md:hidden">{formatUsd(row.monthUsd)} this month</span>}
      {limits !== null && <span className="block">Limits: {limits}</span>}
      {outlook !== undefined && <span className="block">{outlook.text}</span>}
    </span>
  );
}

export const customerColumns = (
  outlookOf: (row: CustomerLine) => Outlook | undefined,
  projectName: (id: string) => string,
): readonly Column<CustomerLine>[] => [
  {
    header: 'Customer',
    wraps: true,
    value: (row) => row.id,
    cell: (row) => (
      <>
        <span className="flex items-center gap-2">
          <span className="font-medium whitespace-normal">{row.id}</span>
          {row.limits.map((one) => (
            <ManagedMark key={one.project_id} resource="customer_limits" id={`${one.project_id}/${one.customer_id}`} />
          ))}
        </span>
        <SmallLine {...{ row, projectName, outlook: outlookOf(row) }} />
      </>
    ),
  },
  { header: 'Spent in this range', unit: 'usd', value: (row) => row.costUsd },
  { header: 'Share', unit: 'share', wideOnly: true, value: (row) => row.share },
  { header: 'Requests in this range', unit: 'count', wideOnly: true, value: (row) => row.requests },
  daysColumn((row) => row.days, 'very'),
  { header: 'Spent this month', unit: 'usd', wideOnly: true, value: (row) => row.monthUsd },
  {
    header: 'Limits',
    wideOnly: 'most',
    value: (row) => describeLimits(row, projectName),
    cell: (row) => {
      const limits = describeLimits(row, projectName);
      return limits === null ? <span className="text-muted">none</span> : <Badge>{limits}</Badge>;
    },
  },
  outlookColumn(outlookOf, 'most'),
];
