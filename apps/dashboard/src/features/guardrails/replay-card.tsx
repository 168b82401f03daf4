import { Link } from '@tanstack/react-router';
import { useChange } from '../../api/change';
import { type Replayed, replayRules, usePolicy } from '../../api/guardrails';
import { useSystem } from '../../api/settings';
import { countOf } from '../../format/format-number';
import { formatInstant } from '../../format/format-time';
import { usePage } from '../../range/use-page';
import { requestsLink } from '../../range/use-show-requests';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { Failure } from '../../ui/error-state';
import { type Column, timeColumn } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { replayProblem } from './prepare-guardrails';

type Hit = Replayed['hits'][number];
type Sum = Replayed['rules'][number];

const LIMIT = 500;

/** Replays the rules over requests with stored bodies. */
export function ReplayCard({ projectId }: { readonly projectId: string }) {
  const { range, timeZone } = usePage();
  const run = useChange({
    run: () =>
      replayRules(projectId, {
        from: new Date(range.fromMs).toISOString(),
        to: new Date(range.toMs).toISOString(),
        limit: LIMIT,
      }),
    affects: [],
  });
  const replayed = run.data;
  const reason = replayProblem(usePolicy(projectId).data?.rules.length, useSystem().data?.log_bodies);
  return (
    <>
      <Card
        title="What would these rules have done?"
        actions={
          <Button disabled={run.isPending || reason !== null} onClick={() => run.mutate(undefined)}>
            {run.isPending ? 'Checking…' : 'Check stored requests'}
          </Button>
        }
      >
        <p className="text-muted">
          Checks the newest {LIMIT} requests of the range above with kept prompts (LOG_BODIES). {reason}
        </p>
        <Failure of={run} />
        {replayed !== undefined && (
          <p className="mt-2">
            {replayed.requests === 0
              ? 'No prompts and answers were kept in this range.'
              : `${countOf(replayed.blocked, 'request')} of ${replayed.requests} would not have passed, since ${formatInstant(Date.parse(replayed.from), timeZone)}.`}
          </p>
        )}
      </Card>
      {replayed !== undefined && replayed.requests > 0 && (
        <>
          <TableCard
            title="By rule"
            caption="What each rule would have done"
            query={run}
            columns={SUMS}
            rows={replayed.rules}
            rowKey={(row) => row.name}
            emptyTitle="No rules"
          />
          <TableCard
            title="Requests"
            caption="Requests in which something was found"
            query={run}
            columns={[timeColumn<Hit>(timeZone), ...HITS]}
            rows={replayed.hits}
            rowKey={(row) => row.request_id}
            emptyTitle="Nothing would have been found"
          />
        </>
      )}
    </>
  );
}

const SUMS: readonly Column<Sum>[] = [
  {
    header: 'Rule',
    narrow: true,
    value: (row) => row.name,
    cell: (row) => (
      <span className="inline-flex items-center gap-2">
        {row.name}
        {row.is_skipped && <Badge>not asked</Badge>}
      </span>
    ),
  },
  { header: 'Then', value: (row) => row.action },
  { header: 'Requests', unit: 'count', value: (row) => row.requests },
  { header: 'Matches', unit: 'count', value: (row) => row.matches },
  { header: 'Not checked', unit: 'count', wideOnly: true, value: (row) => row.failures },
];

const HITS: readonly Column<Hit>[] = [
  {
    header: 'Request',
    narrow: true,
    value: (row) => row.request_id,
    cell: (row) => (
      <Link
        {...requestsLink({ request_id: row.request_id, tab: undefined })}
        className="font-mono text-xs text-accent hover:underline"
      >
        {row.request_id.slice(0, 13)}…
      </Link>
    ),
  },
  {
    header: 'Found',
    narrow: true,
    value: (row) => row.rules.map(({ name, matches }) => `${name} ${matches}×`).join(', '),
  },
  {
    header: 'Outcome',
    value: (row) => (row.blocked_by === null ? 'passes' : `blocked by ${row.blocked_by}`),
    tone: (row) => (row.blocked_by === null ? 'neutral' : 'bad'),
  },
];
