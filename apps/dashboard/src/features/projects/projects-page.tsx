import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { type Project, type ProjectInput, useProjects } from '../../api/projects';
import { useMayChange } from '../../api/session';
import { useSpend } from '../../api/stats';
import { formatCount } from '../../format/format-number';
import { formatUsd } from '../../format/format-usd';
import { rangeQuery, untilNow } from '../../range/time-range';
import { usePage } from '../../range/use-page';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { type Column, DataTable } from '../../ui/data-table';
import { Dialog } from '../../ui/dialog';
import { ErrorState } from '../../ui/error-state';
import { Plus } from '../../ui/icons';
import { Meter } from '../../ui/meter';
import { Segmented } from '../../ui/segmented';
import { PageFrame } from '../shell/page-frame';
import { CustomersCard } from './customers-card';
import { NEW_PROJECT_FIELDS } from './field-specs';
import { monthStart } from './prepare-usage';
import { SpecForm } from './spec-form';

const TABS = [
  { value: 'projects', label: 'Projects' },
  { value: 'customers', label: 'Customers' },
] as const;

export function ProjectsPage() {
  const page = usePage();
  const { tab = 'projects' } = useSearch({ from: '/projects' });
  const navigate = useNavigate();
  const mayChange = useMayChange();
  const [isCreating, setIsCreating] = useState(false);
  const show = (value: 'projects' | 'customers') =>
    void navigate({
      to: '/projects',
      search: (before) => ({ ...before, tab: value === 'customers' ? value : undefined }),
    });
  return (
    <PageFrame
      title="Projects & keys"
      page={tab === 'customers' ? page : undefined}
      actions={
        <>
          <Segmented label="Show" options={TABS} value={tab} onChange={show} />
          <Button kind="primary" disabled={!mayChange} onClick={() => setIsCreating(true)}>
            <Plus /> New project
          </Button>
        </>
      }
    >
      {tab === 'customers' ? <CustomersCard page={page} /> : <ProjectsCard />}
      <NewProject open={isCreating} onClose={() => setIsCreating(false)} />
    </PageFrame>
  );
}

interface ProjectRow extends Project {
  readonly spent: number;
  readonly requests: number;
}

function ProjectsCard() {
  const navigate = useNavigate();
  const projects = useProjects();
  const [nowMs] = useState(() => Date.now());
  const spend = useSpend({
    ...rangeQuery({ fromMs: monthStart(nowMs), toMs: untilNow(nowMs + 60_000) }),
    interval: 'all',
    group_by: 'project',
  });
  const rows = useMemo(() => {
    const spent = new Map(spend.data?.buckets.map((bucket) => [bucket.group, bucket]));
    return projects.data?.data.map((project): ProjectRow => {
      const bucket = spent.get(project.id);
      return { ...project, spent: bucket?.cost_usd ?? 0, requests: bucket?.requests ?? 0 };
    });
  }, [projects.data, spend.data]);
  return (
    <Card flush>
      {projects.error && <ErrorState error={projects.error} onRetry={() => void projects.refetch()} />}
      <DataTable
        caption="Projects"
        columns={PROJECT_COLUMNS}
        rows={rows}
        rowKey={(row) => row.id}
        csvName="projects"
        onRow={(row) => void navigate({ to: '/projects/$projectId', params: { projectId: row.id } })}
      />
    </Card>
  );
}

const PROJECT_COLUMNS: readonly Column<ProjectRow>[] = [
  {
    id: 'name',
    header: 'Project',
    value: (row) => row.name,
    cell: (row) => (
      <span className="inline-flex max-w-full items-center gap-2">
        <span className="truncate font-medium">{row.name}</span>
        {!row.is_active && <Badge tone="warn">off</Badge>}
        {row.strict_caps && <Badge>strict</Badge>}
      </span>
    ),
  },
  { id: 'spent', header: 'This month', align: 'right', value: (row) => row.spent, cell: (row) => formatUsd(row.spent) },
  {
    id: 'cap',
    header: 'Cap',
    align: 'right',
    value: (row) => row.monthly_cap_usd,
    cell: (row) => (row.monthly_cap_usd === null ? 'none' : formatUsd(row.monthly_cap_usd)),
  },
  {
    id: 'used',
    header: 'Used',
    wideOnly: true,
    value: (row) => (row.monthly_cap_usd === null ? null : row.spent / row.monthly_cap_usd),
    cell: (row) =>
      row.monthly_cap_usd === null ? null : (
        <Meter share={row.spent / row.monthly_cap_usd} label={`${row.name}: used of the cap`} />
      ),
  },
  {
    id: 'requests',
    header: 'Requests',
    align: 'right',
    value: (row) => row.requests,
    cell: (row) => formatCount(row.requests),
  },
];

function NewProject({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const navigate = useNavigate();
  const create = useChange({
    run: (json: ProjectInput & { name: string }) => read(api.projects.$post({ json })),
    affects: [['projects'], ['budgets']],
    done: 'The project is there',
  });
  return (
    <Dialog title="New project" description="Keys, caps and caches belong to a project." open={open} onClose={onClose}>
      <SpecForm
        specs={NEW_PROJECT_FIELDS}
        resource={null}
        submitLabel="Create project"
        isPending={create.isPending}
        error={create.error}
        onSubmit={(body) =>
          create.mutate(body as unknown as ProjectInput & { name: string }, {
            onSuccess: (project) => void navigate({ to: '/projects/$projectId', params: { projectId: project.id } }),
          })
        }
      />
    </Dialog>
  );
}
