import { apartColorOf } from '../../charts/series-colors';
import { Card } from '../../ui/card';
import { Meter } from '../../ui/meter';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { describeRest, describeShare, prepareShares, type Segment } from './prepare-shares';
import { type Shares, useShares } from './use-teams';

type Share = Shares['data'][number];

const COLUMNS: readonly Column<Share>[] = [
  { header: 'Project', value: (row) => row.name },
  { header: 'Share', unit: 'usd', value: (row) => row.share_usd },
  { header: 'Spent', unit: 'usd', value: (row) => row.spent_usd },
  { header: 'Of the rest', unit: 'usd', value: (row) => row.drawn_usd },
  { header: 'Overdraft', wideOnly: true, value: (row) => (row.overdraft ? 'on' : 'off') },
];

/** A team's monthly budget by its projects' shares. */
export function SharesCard({ teamId }: { readonly teamId: string }) {
  const query = useShares(teamId);
  const { data } = query;
  return (
    <div className="mt-4">
      <TableCard
        title="Shares of the monthly budget"
        caption="Shares of the monthly budget"
        query={query}
        columns={COLUMNS}
        rows={data?.data}
        rowKey={(row) => row.project_id}
        emptyTitle="No shares"
        emptyHint="Give a project a share under its limits: that part of the budget is kept for it."
      >
        {data !== undefined && data.data.length > 0 && (
          <div className="px-4 py-3">
            <Bar segments={prepareShares(data)} />
            <p className="mt-2 text-xs text-muted">{describeRest(data)}</p>
          </div>
        )}
      </TableCard>
    </div>
  );
}

/** What a project spent of its share, and beyond it. */
export function ShareNote({ teamId, projectId }: { readonly teamId: string; readonly projectId: string }) {
  const share = useShares(teamId).data?.data.find((one) => one.project_id === projectId);
  return share === undefined ? null : (
    <Card title="Share of the team's budget">
      <Meter share={share.share_usd === 0 ? 1 : share.spent_usd / share.share_usd} label="Used of the share" />
      <p className="mt-2 text-xs text-muted">{describeShare(share)}</p>
    </Card>
  );
}

/** Each share in its color: solid as far as it is used, pale where it is free. */
function Bar({ segments }: { readonly segments: readonly Segment[] }) {
  return (
    <div
      role="img"
      aria-label={segments.map(({ text }) => text).join('. ')}
      className="flex h-3 w-full gap-px overflow-hidden rounded-full bg-hover"
    >
      {segments.map(({ name, isRest, usedWidth, freeWidth, text }) => {
        const color = isRest ? 'var(--color-muted)' : apartColorOf(name);
        return (
          <span
            key={isRest ? '' : name}
            title={text}
            className="flex h-full"
            style={{ width: `${usedWidth + freeWidth}%` }}
          >
            <span className="h-full" style={{ flexGrow: usedWidth, background: color }} />
            <span className="h-full opacity-30" style={{ flexGrow: freeWidth, background: color }} />
          </span>
        );
      })}
    </div>
  );
}
