import { type ReactNode, useState } from 'react';
import type { Key } from '../../api/projects';
import { useMay } from '../../api/session';
import { useErrors, useSpend } from '../../api/stats';
import { NOTHING } from '../../format/format-number';
import { formatAgo, formatInstant } from '../../format/format-time';
import { monthStart } from '../../range/month';
import { rangeQuery, untilNow } from '../../range/time-range';
import { usePage } from '../../range/use-page';
import { type RequestsFilter, requestsLink } from '../../range/use-show-requests';
import { Failure } from '../../ui/error-state';
import { Meter } from '../../ui/meter';
import { PlaceLink } from '../../ui/place-link';
import { prepareKeyUsage } from './prepare-usage';
import { DAY_MS } from './spending/prepare-days';

const NO_SPEND = { cost_usd: 0 };
const NO_REQUESTS = { requests: 0, rate_limited: 0, cap_exceeded: 0 };

/** A key's requests, spend and refusals of the UTC month, with links to the requests. */
export function KeyUsage({ of: apiKey }: { readonly of: Key }) {
  const { timeZone } = usePage();
  const { month, usage, isLoading, failed } = useKeyUsage(apiKey);
  const mayReadLogs = useMay('read_logs');
  const { last_used_at: usedAt, previous_secret_expires_at: graceEnd, project_id: project, id } = apiKey;
  const linkTo = (text: string, filter: RequestsFilter) =>
    mayReadLogs && (
      <PlaceLink
        {...requestsLink({ ...month, project, api_key_id: id, open: undefined, ...filter })}
        className="text-accent underline"
      >
        {text}
      </PlaceLink>
    );
  const unknown = isLoading ? '…' : NOTHING;
  return (
    <section aria-label="Usage of the key" className="mb-4 rounded-md border px-3 py-1">
      <dl className="divide-y">
        <Line name="Requests this month" value={usage.requests ?? unknown}>
          {linkTo('Requests of this key', {})}
        </Line>
        <Line name="Refused this month" value={usage.refused ?? unknown}>
          {linkTo('Refused requests', { outcome: ['rate_limited', 'cap_exceeded'] })}
        </Line>
        <Line name="Spent this month" value={usage.spent ?? unknown} />
        {apiKey.budget_usd !== null && (
          <Line name="Budget" value={usage.budget?.text ?? unknown}>
            {usage.budget !== null && (
              <span className="w-24">
                <Meter share={usage.budget.share} label="Budget of the key" />
              </span>
            )}
          </Line>
        )}
        <Line
          name="Last used"
          value={usedAt === null ? 'never' : <time dateTime={usedAt}>{formatAgo(usedAt, Date.now())}</time>}
        >
          {usedAt !== null && <span className="text-muted">{formatInstant(usedAt, timeZone)}</span>}
        </Line>
        {graceEnd !== null && Date.parse(graceEnd) > Date.now() && (
          <Line name="Old secret" value="works">
            <span className="text-muted">until {formatInstant(graceEnd, timeZone)}</span>
          </Line>
        )}
      </dl>
      <Failure of={failed} />
    </section>
  );
}

function useKeyUsage(apiKey: Key) {
  const [nowMs] = useState(() => Date.now());
  const toMs = untilNow(nowMs + 60_000);
  const month = rangeQuery({ fromMs: monthStart(nowMs), toMs });
  const today = rangeQuery({ fromMs: Math.floor(nowMs / DAY_MS) * DAY_MS, toMs });
  const asked = { project_id: apiKey.project_id, api_key_id: apiKey.id, interval: 'all' };
  const maySpend = useMay('read_spend');
  const mayStats = useMay('read_stats');
  const ofMonth = useSpend({ ...month, ...asked }, maySpend);
  const ofToday = useSpend({ ...today, ...asked }, maySpend);
  const outcomes = useErrors({ ...month, ...asked }, mayStats);
  const sumOf = <T, N>(buckets: readonly T[] | undefined, none: N) => buckets && (buckets[0] ?? none);
  return {
    month,
    isLoading: ofMonth.isLoading || ofToday.isLoading || outcomes.isLoading,
    failed: { error: ofMonth.error ?? ofToday.error ?? outcomes.error },
    usage: prepareKeyUsage(apiKey, {
      month: sumOf(ofMonth.data?.buckets, NO_SPEND),
      today: sumOf(ofToday.data?.buckets, NO_SPEND),
      outcomes: sumOf(outcomes.data?.buckets, NO_REQUESTS),
    }),
  };
}

interface LineProps {
  readonly name: string;
  readonly value: ReactNode;
  /** Beside the value. */
  readonly children?: ReactNode;
}

const Line = ({ name, value, children }: LineProps) => (
  <div className="flex flex-wrap items-center gap-x-3 py-1">
    <dt className="w-36 shrink-0 text-muted">{name}</dt>
    <dd className="flex min-w-0 flex-1 flex-wrap items-center justify-between gap-x-3 tabular-nums">
      <span>{value}</span>
      {children}
    </dd>
  </div>
);
