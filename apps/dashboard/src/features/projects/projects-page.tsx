import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { type ProjectInput, useProjectNames, useProjects } from '../../api/projects';
import { asInterval, useSpend } from '../../api/stats';
import { monthStart } from '../../range/month';
import { rangeQuery, untilNow } from '../../range/time-range';
import { useOpened } from '../../range/use-opened';
import { Badge } from '../../ui/badge';
import { Plus } from '../../ui/icons';
import { Meter } from '../../ui/meter';
import { Name } from '../../ui/name';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { ChangeButton } from '../forms/change-button';
import { ManagedMark } from '../forms/managed-set';
import { SpecDialog } from '../forms/spec-form';
import { PageFrame } from '../shell/page-frame';
import { NEW_PROJECT_FIELDS } from './field-specs';
import { type ProjectLine, prepareProjects } from './prepare-usage';
import { DAY_MS, prepareDays, sparkDays } from './spending/prepare-days';
import { RunsOutNext } from './spending/runs-out-next';
import { daysColumn, outlookColumn } from './spending/spending-columns';
import { useOutlooks } from './spending/use-outlooks';

export function ProjectsPage() {
  const opened = useOpened();
  return (
    <PageFrame
      title="Projects & keys"
      intro="Projects hold keys, and the limits, caches and guardrails of those keys."
      actions={
        <ChangeButton kind="primary" onClick={() => opened.open('new-project')}>
          <Plus /> New project
        </ChangeButton>
      }
    >
      <ProjectsCard />
      <NewProject open={opened.id === 'new-project'} onClose={opened.close} />
    </PageFrame>
  );
}

/** Most projects with bars. */
const MOST = '100';

function ProjectsCard() {
  const projects = useProjects();
  const projectName = useProjectNames();
  const [nowMs] = useState(() => Date.now());
  const toMs = untilNow(nowMs + 60_000);
  const month = useSpend({
    ...rangeQuery({ fromMs: monthStart(nowMs), toMs }),
    interval: 'all',
    group_by: 'project',
  });
  const { fromMs } = sparkDays(nowMs);
  const asked = { interval: asInterval(DAY_MS), group_by: 'project', top: MOST };
  const days = useSpend({ ...rangeQuery({ fromMs, toMs }), ...asked });
  const budgets = useOutlooks('project');
  const { isReady, outlooks } = budgets;
  const isLoading = !isReady || [month, days].some(({ data, error }) => data === undefined && error === null);
  const lines = useMemo(() => {
    if (projects.data === undefined || isLoading) return undefined;
    const daysOf = days.data === undefined ? () => null : prepareDays(days.data, fromMs);
    const named = projects.data.data.map((project) => ({ ...project, name: projectName(project.id) }));
    return prepareProjects(named, { month: month.data?.buckets ?? [], daysOf, outlooks });
  }, [projects.data, projectName, month.data, days.data, fromMs, outlooks, isLoading]);
  return (
    <TableCard
      caption="Projects"
      query={projects}
      above={
        <RunsOutNext
          budgets={budgets}
          linkOf={({ projectId }) => ({ to: '/projects/$projectId', params: { projectId } })}
        />
      }
      columns={PROJECT_COLUMNS}
      sortBy={SPENT.header}
      rows={lines}
      rowKey={(line) => line.id}
      csvName="projects"
      linkOf={({ id }) => ({ to: '/projects/$projectId', params: { projectId: id } })}
    />
  );
}

const SPENT: Column<ProjectLine> = { header: 'Spent this month', unit: 'usd', value: (line) => line.spentUsd };
export const PROJECT_COLUMNS: readonly Column<ProjectLine>[] = [
  {
    header: 'Project',
    value: (line) => line.name,
    cell: (line) => (
      <Name name={line.name}>
        <ManagedMark resource="project" id={line.id} />
        {!line.is_active && <Badge tone="warn">off</Badge>}
        {line.strict_caps && <Badge>strict</Badge>}
      </Name>
    ),
  },
  SPENT,
  daysColumn((line) => line.days, true),
  { header: 'Monthly cap', unit: 'usd', none: 'none', wideOnly: true, value: (line) => line.monthly_cap_usd },
  {
    header: 'Used',
    wideOnly: true,
    value: (line) => line.share,
    cell: (line) => line.share !== null && <Meter share={line.share} label={`${line.name}: used of the cap`} />,
  },
  outlookColumn((line) => line.outlook),
  { header: 'Requests this month', wideOnly: 'very', unit: 'count', value: (line) => line.requests },
];

type NewProjectInput = ProjectInput & { name: string };

function NewProject({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const navigate = useNavigate();
  const create = useChange({
    run: (json: NewProjectInput) => read(api.projects.$post({ json })),
    affects: [['projects'], ['budgets']],
    done: 'Project created',
  });
  const onSuccess = ({ id }: { id: string }) =>
    void navigate({ to: '/projects/$projectId', params: { projectId: id }, search: { tab: 'keys' } });
  return (
    <SpecDialog
      title="New project"
      description="Keys, caps and caches belong to a project."
      open={open}
      onClose={onClose}
      specs={NEW_PROJECT_FIELDS}
      resource={null}
      submitLabel="Create project"
      change={create}
      onSubmit={(body) => create.mutate(body as unknown as NewProjectInput, { onSuccess })}
    />
  );
}
