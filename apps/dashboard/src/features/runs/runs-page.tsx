import { useProjectNames } from '../../api/projects';
import { useExampleModel, useGatewayUrl } from '../../api/settings';
import { useLiveLists } from '../../api/stats';
import { formatShare, NOTHING } from '../../format/format-number';
import { formatAgo } from '../../format/format-time';
import { useChoice } from '../../range/use-choice';
import { useOpened } from '../../range/use-opened';
import { usePage } from '../../range/use-page';
import { Meter } from '../../ui/meter';
import { Segmented } from '../../ui/segmented';
import { type Column, drawCell, timeColumn } from '../../ui/table/column';
import { MoreRows } from '../../ui/table/more-rows';
import { TableCard } from '../../ui/table/table-card';
import { FirstCall } from '../shell/first-call';
import { PageFrame } from '../shell/page-frame';
import { ProjectFilter } from '../shell/project-filter';
import { keyOfRun, readRunKey, stateOfRun } from './prepare-run';
import { RunDrawer } from './run-drawer';
import { type Run, useRuns } from './use-runs';

/** Agents' runs with a budget; a row opens its requests and tool calls. */
export function RunsPage() {
  const page = usePage();
  const [state, setState] = useChoice<keyof typeof STATES>('state', ['', 'running', 'paused', 'stopped']);
  const runs = useRuns(page.projectId, state);
  useLiveLists(LIVE, page.projectId);
  const opened = useOpened();
  const url = useGatewayUrl();
  const model = useExampleModel();
  const projectName = useProjectNames();
  const open = opened.id === undefined ? null : readRunKey(opened.id);
  const project: Column<Run> = { header: 'Project', wideOnly: true, value: (row) => projectName(row.project_id) };
  return (
    <PageFrame
      title="Runs"
      intro="Agents' runs with a budget for all their requests and tool calls. Requests finds those without one by their id."
      actions={<ProjectFilter page={page} />}
    >
      <TableCard
        title="With a budget"
        actions={<Segmented label="State" options={STATES} value={state} onChange={setState} />}
        caption="Runs with a budget, newest first"
        query={runs}
        columns={[RUN, project, ...COLUMNS, startedColumn(page.timeZone)]}
        rows={runs.data?.rows}
        rowKey={keyOfRun}
        linkOf={(row) => opened.linkTo(keyOfRun(row))}
        emptyTitle={state === '' ? 'No runs with a budget' : `No ${STATES[state].toLowerCase()} runs`}
        emptyHint={
          state === '' && (
            <FirstCall
              text="A run groups the requests and tool calls of one agent's task under one budget: it ends before it costs more. The first request that names it begins it."
              code={firstRun(url, model)}
            />
          )
        }
      >
        <MoreRows pages={runs} shown={runs.data?.rows.length ?? 0} />
        {open !== null && <RunDrawer of={{ id: open.id, project_id: open.projectId }} onClose={opened.close} />}
      </TableCard>
    </PageFrame>
  );
}

const LIVE = ['runs'];
const STATES = { '': 'All', running: 'Running', paused: 'Paused', stopped: 'Stopped' } as const;

const firstRun = (url: string, model: string) => `curl ${url}/v1/chat/completions \\
  -H "Authorization: Bearer $LLM0_API_KEY" \\
  -H "Content-Type: application/json" \\
  -H "X-LLM0-Run-Id: first-run" \\
  -H "X-LLM0-Run-Budget-Usd: 0.50" \\
  -d '{"model": "${model}", "messages":
    [{"role": "user", "content": "Hello!"}]}'`;

/** Null without a budget. */
const usedShare = ({ spent_usd: spent, budget_usd: budget }: Run) =>
  budget === null || budget === 0 ? null : spent / budget;

const RUN: Column<Run> = { header: 'Run', wraps: true, value: (row) => row.id };
const COLUMNS: readonly Column<Run>[] = [
  {
    ...{ header: 'State', value: (row) => stateOfRun(row, Date.now()).label },
    tone: (row) => stateOfRun(row, Date.now()).tone,
  },
  { header: 'Spent', unit: 'cost', value: (row) => row.spent_usd },
  { header: 'Budget', unit: 'price', none: 'none', value: (row) => row.budget_usd },
  {
    ...{ header: 'Used', align: 'right', wideOnly: true, value: usedShare },
    cell: (row) => <Used share={usedShare(row)} />,
  },
  { header: 'Requests', unit: 'count', wideOnly: true, value: (row) => row.requests },
  { header: 'Tool calls', unit: 'count', wideOnly: true, value: (row) => row.tool_calls },
  {
    ...{ header: 'Last active', wideOnly: 'very', value: (row) => row.last_active_at },
    cell: (row) => (row.last_active_at === null ? NOTHING : formatAgo(row.last_active_at, Date.now())),
  },
];

function Used({ share }: { readonly share: number | null }) {
  if (share === null) return NOTHING;
  return (
    <span className="inline-flex items-center gap-2">
      <span className="w-20">
        <Meter share={share} label="Budget used" />
      </span>
      <span className="w-14">{formatShare(share)}</span>
    </span>
  );
}

function startedColumn(timeZone: Parameters<typeof timeColumn>[0]): Column<Run> {
  const time = timeColumn<{ created_at: string }>(timeZone);
  const at = (row: Run) => ({ created_at: row.started_at ?? '' });
  return {
    ...{ header: time.header.replace('Time', 'Started'), wideOnly: true, value: (row) => row.started_at },
    cell: (row) => (row.started_at === null ? '–' : drawCell(time, at(row))),
  };
}
