import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { type Project, type ProjectInput, useProjects } from '../../api/projects';
import { useMayChange } from '../../api/session';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { Dialog } from '../../ui/dialog';
import { EmptyState } from '../../ui/empty-state';
import { ErrorState } from '../../ui/error-state';
import { PageFrame } from '../shell/page-frame';
import { CapCard } from '../spend/cap-card';
import { PROJECT_FIELDS } from './field-specs';
import { KeysCard } from './keys-card';
import { SpecForm } from './spec-form';

export function ProjectPage() {
  const { projectId } = useParams({ from: '/projects/$projectId' });
  const projects = useProjects();
  const project = projects.data?.data.find(({ id }) => id === projectId);
  if (projects.error) {
    return (
      <PageFrame title="Project">
        <ErrorState error={projects.error} onRetry={() => void projects.refetch()} />
      </PageFrame>
    );
  }
  if (project === undefined) {
    return (
      <PageFrame title="Project">
        {!projects.isPending && (
          <EmptyState title="There is no such project">
            <Link to="/projects" className="text-accent underline">
              All projects
            </Link>
          </EmptyState>
        )}
      </PageFrame>
    );
  }
  return (
    <PageFrame
      title={project.name}
      intro={<code className="font-mono text-xs">{project.id}</code>}
      actions={
        <Link
          to="/requests"
          search={{ project: project.id }}
          className="rounded-md px-2 py-1 text-muted hover:bg-hover hover:text-text"
        >
          Its requests
        </Link>
      }
    >
      <CapCard project={project} />
      <KeysCard projectId={project.id} />
      <SettingsCard key={`${project.id} ${project.updated_at}`} project={project} />
    </PageFrame>
  );
}

function SettingsCard({ project }: { readonly project: Project }) {
  const navigate = useNavigate();
  const mayChange = useMayChange();
  const [isDeleting, setIsDeleting] = useState(false);
  const param = { id: project.id };
  const save = useChange({
    run: (json: ProjectInput) => read(api.projects[':id'].$patch({ param, json })),
    affects: [['projects'], ['budgets']],
    done: 'Saved; it holds from the next request on',
  });
  const remove = useChange({
    run: () => api.projects[':id'].$delete({ param }),
    affects: [['projects'], ['budgets']],
    done: 'The project is deleted; its keys are refused',
  });
  return (
    <Card title="Settings">
      <SpecForm
        specs={PROJECT_FIELDS}
        resource={project}
        submitLabel="Save settings"
        isPending={save.isPending}
        error={save.error}
        disabled={!mayChange}
        onSubmit={(body) => save.mutate(body as ProjectInput)}
      >
        <Button kind="danger" disabled={!mayChange} onClick={() => setIsDeleting(true)}>
          Delete project
        </Button>
      </SpecForm>
      <Dialog
        title={`Delete ${project.name}?`}
        description="Its keys are refused from the next request on. Its requests stay in the log."
        open={isDeleting}
        onClose={() => setIsDeleting(false)}
      >
        {remove.error && <ErrorState error={remove.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={() => setIsDeleting(false)}>Keep it</Button>
          <Button
            kind="danger"
            onClick={() => remove.mutate(undefined, { onSuccess: () => void navigate({ to: '/projects' }) })}
          >
            Delete project
          </Button>
        </div>
      </Dialog>
    </Card>
  );
}
