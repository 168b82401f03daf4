import { Link } from '@tanstack/react-router';
import type { CapForecast, Statement } from '../../api/finance';
import { useProjectNames } from '../../api/projects';
import { formatShare } from '../../format/format-number';
import { Badge } from '../../ui/badge';
import { Card } from '../../ui/card';
import { EmptyState } from '../../ui/empty-state';
import { Meter } from '../../ui/meter';
import { outlookOf } from './cap-outlook';
import { formatFixed } from './format-fixed';
import { formatBand, monthName } from './prepare-finance';

interface Props {
  readonly statement: Statement;
  readonly decimals: number;
}

const SCOPES = { project: 'Project', key: 'Key', customer: 'Customer' } as const;
const TONES = { neutral: 'text-muted', good: 'text-good', warn: 'text-warn', bad: 'text-bad' } as const;
const CELL = 'px-2 py-1.5 sm:px-3';

/** Monthly caps: usage, forecast, and the day of exhaustion. Those of a past month are as they were at its end. */
export function CapsTable({ statement, decimals }: Props) {
  const { caps, is_final: isFinal, month } = statement;
  return (
    <Card title={isFinal ? 'Spend against caps' : 'Forecast against caps'} flush>
      {caps.length === 0 ? (
        <EmptyState title="No monthly caps">
          Projects with a monthly cap, keys with a monthly budget and customers with a monthly limit appear here.
        </EmptyState>
      ) : (
        <table className="w-full text-sm">
          <caption className="border-b px-4 pb-2 text-left text-xs text-muted">
            Monthly caps {isFinal ? `at the end of ${monthName(month)}` : 'as they are now'}
          </caption>
          <thead>
            <tr className="border-b text-xs text-muted">
              <Head>Applies to</Head>
              <Head isRight className="max-md:hidden print:table-cell!">
                Cap, USD
              </Head>
              <Head isRight>Spent, USD</Head>
              <Head className="max-md:hidden print:hidden">Used</Head>
              {!isFinal && <Head isRight>Forecast, USD</Head>}
              <Head className="max-md:hidden print:table-cell!">Outlook</Head>
            </tr>
          </thead>
          <tbody>
            {caps.map((cap) => (
              <CapRow key={`${cap.scope} ${cap.project_id} ${cap.id}`} {...{ cap, isFinal, decimals }} />
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}

interface HeadProps {
  readonly children: string;
  readonly isRight?: boolean;
  readonly className?: string;
}

const Head = ({ children, isRight = false, className = '' }: HeadProps) => (
  <th scope="col" className={`${CELL} font-medium ${isRight ? 'text-right' : 'text-left'} ${className}`}>
    {children}
  </th>
);

interface RowProps {
  readonly cap: CapForecast;
  readonly isFinal: boolean;
  readonly decimals: number;
}

function CapRow({ cap, isFinal, decimals }: RowProps) {
  const { text, tone } = outlookOf(cap, isFinal);
  const share = cap.cap_usd === 0 ? 1 : cap.spent_usd / cap.cap_usd;
  const projectName = useProjectNames()(cap.project_id);
  const of = cap.scope === 'project' ? SCOPES.project : `${SCOPES[cap.scope]} in ${projectName}`;
  return (
    <tr className="border-b align-top last:border-0">
      <th scope="row" className={`${CELL} min-w-28 text-left font-normal wrap-anywhere`}>
        <Link
          to="/projects/$projectId"
          params={{ projectId: cap.project_id }}
          className="touch-line rounded hover:underline"
        >
          {cap.scope === 'project' ? projectName : cap.name}
        </Link>
        <span className="block text-xs text-muted">{of}</span>
        <span className={`block text-xs md:hidden print:hidden ${TONES[tone]}`}>{text}</span>
      </th>
      <td className={`${CELL} nums text-right max-md:hidden print:table-cell!`}>
        {formatFixed(cap.cap_usd, decimals)}
      </td>
      <td className={`${CELL} nums text-right`}>
        {formatFixed(cap.spent_usd, decimals)}
        <span className="block text-xs text-muted">
          {formatShare(share)}
          <span className="block md:hidden print:hidden">of {formatFixed(cap.cap_usd, decimals)}</span>
        </span>
      </td>
      <td className={`${CELL} w-40 pt-3! max-md:hidden print:hidden`}>
        <Meter share={share} label={`${cap.name}: ${formatShare(share)} of its cap`} />
      </td>
      {!isFinal && (
        <td className={`${CELL} nums text-right`}>
          {formatFixed(cap.forecast?.expected_usd ?? null, decimals)}
          {cap.forecast !== null && cap.forecast.low_usd !== null && (
            <span className="block text-xs text-muted max-md:hidden print:block!">
              {formatBand(cap.forecast, decimals)}
            </span>
          )}
        </td>
      )}
      <td className={`${CELL} min-w-28 max-md:hidden print:table-cell!`}>
        <Badge tone={tone}>{text}</Badge>
      </td>
    </tr>
  );
}
