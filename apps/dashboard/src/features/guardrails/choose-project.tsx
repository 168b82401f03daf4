import { type ReactNode, useEffect } from 'react';
import { useProjects } from '../../api/projects';
import { usePage } from '../../range/use-page';
import { Card } from '../../ui/card';
import { EmptyState } from '../../ui/empty-state';
import { Failure } from '../../ui/error-state';
import { Select } from '../../ui/form';

const KEPT = 'llm0-guardrails-project';

/** Each policy belongs to one project: without one in the address, that of the last visit, or the first. */
export function OfProject({ children }: { readonly children: (projectId: string) => ReactNode }) {
  const { projectId, change } = usePage();
  const projects = useProjects();
  useEffect(() => {
    if (projectId !== undefined) localStorage.setItem(KEPT, projectId);
  }, [projectId]);
  if (projectId !== undefined) return children(projectId);
  if (projects.data === undefined) return <Failure of={projects} />;
  const known = projects.data.data;
  const last = localStorage.getItem(KEPT);
  const shown = known.find(({ id }) => id === last) ?? known[0];
  if (shown === undefined) {
    return (
      <Card>
        <EmptyState title="No projects yet">Each project has guardrails of its own.</EmptyState>
      </Card>
    );
  }
  return (
    <div className="grid gap-4 *:min-w-0">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1 text-muted">
        Each project has guardrails of its own. These are of
        <Select
          aria-label="Project of these guardrails"
          className="w-52"
          options={known.map(({ id, name }) => [id, name] as const)}
          value={shown.id}
          onValue={(project) => change({ project })}
        />
      </div>
      {children(shown.id)}
    </div>
  );
}
