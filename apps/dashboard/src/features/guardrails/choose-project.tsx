import type { ReactNode } from 'react';
import { useProjects } from '../../api/projects';
import { usePage } from '../../range/use-page';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { EmptyState } from '../../ui/empty-state';

const SHOWN = 12;

/** Asks for a project first, because each policy belongs to one. */
export function OfProject({ children }: { readonly children: (projectId: string) => ReactNode }) {
  const { projectId, change } = usePage();
  const projects = useProjects().data?.data ?? [];
  if (projectId !== undefined) return children(projectId);
  return (
    <Card>
      <EmptyState title="Choose a project">
        <p>Each project has guardrails of its own.</p>
        <div className="mt-3 flex flex-wrap justify-center gap-2">
          {projects.slice(0, SHOWN).map(({ id, name }) => (
            <Button key={id} size="small" onClick={() => change({ project: id })}>
              <span className="max-w-60 truncate">{name}</span>
            </Button>
          ))}
        </div>
      </EmptyState>
    </Card>
  );
}
