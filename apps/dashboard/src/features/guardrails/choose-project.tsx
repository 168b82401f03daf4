import { type ReactNode, useEffect } from 'react';
import { useProjects } from '../../api/projects';
import { usePage } from '../../range/use-page';
import { Card } from '../../ui/card';
import { EmptyState } from '../../ui/empty-state';
import { Failure } from '../../ui/error-state';

const KEPT = 'llm0-guardrails-project';

/** The project in the address; without one, that of the last visit, or the first. */
export function useShownProject(): string | undefined {
  const { projectId } = usePage();
  const known = useProjects().data?.data;
  useEffect(() => {
    if (projectId !== undefined) localStorage.setItem(KEPT, projectId);
  }, [projectId]);
  const last = localStorage.getItem(KEPT);
  return projectId ?? (known?.find(({ id }) => id === last) ?? known?.[0])?.id;
}

/** Each policy belongs to one project. */
export function OfProject({ children }: { readonly children: (projectId: string) => ReactNode }) {
  const shown = useShownProject();
  const projects = useProjects();
  if (shown !== undefined) return children(shown);
  if (projects.data === undefined) return <Failure of={projects} />;
  return (
    <Card>
      <EmptyState title="No projects yet">Each project has guardrails of its own.</EmptyState>
    </Card>
  );
}
