import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange } from '../../api/change';
import { api } from '../../api/client';
import { type Project, type ProjectInput, useProjects } from '../../api/projects';
import { saveChanges } from '../../api/save-changes';
import { Card } from '../../ui/card';
import { ConfirmDialog } from '../../ui/confirm-dialog';
import { EmptyState } from '../../ui/empty-state';
import { Failure } from '../../ui/error-state';
import { Mono } from '../../ui/mono';
import { ChangeButton } from '../forms/change-button';
import { Managed } from '../forms/managed';
import { type Edit, SpecForm } from '../forms/spec-form';
import { useRecentRequests } from '../forms/use-impact';
import { PageFrame } from '../shell/page-frame';
import { CapCard } from '../spend/cap-card';
import { PROJECT_FIELDS } from './field-specs';
import { KeysCard } from './keys-card';

export function ProjectPage() {
  const { projectId } = useParams({ from: '/projects/$projectId' });
  const projects = useProjects();
  const project = projects.data?.data.find(({ id }) => id === projectId);
  if (projects.error) {
    return (
      <PageFrame title="Project">
        <Failure of={projects} />
      </PageFrame>
    );
  }
  if (project === undefined) {
    return (
      <PageFrame title="Project">
        {!projects.isPending && (
          <EmptyState title="Project not found">
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
      intro={<Mono>{project.id}</Mono>}
      actions={
        <Link
          to="/requests"
          search={{ project: project.id }}
          className="rounded-md px-2 py-1 text-muted hover:bg-hover hover:text-text"
        >
          View requests
        </Link>
      }
    >
      <CapCard project={project} />
      <KeysCard projectId={project.id} />
      <Managed of={{ resource: 'project', id: project.id }} at="page">
        <SettingsCard key={`${project.id} ${project.updated_at}`} project={project} />
      </Managed>
    </PageFrame>
  );
}

function SettingsCard({ project }: { readonly project: Project }) {
  const navigate = useNavigate();
  const [isDeleting, setIsDeleting] = useState(false);
  const recent = useRecentRequests({ project_id: project.id, group_by: 'project', is: project.id });
  const param = { id: project.id };
  const affects = [['projects'], ['budgets'], ['finance']];
  const save = useChange({
    run: (edit: Edit) =>
      saveChanges({
        ...edit,
        read: () => api.projects[':id'].$get({ param }),
        write: (options) => api.projects[':id'].$patch({ param, json: edit.changes as ProjectInput }, options),
      }),
    affects,
    done: 'Saved. Changes apply from the next request.',
  });
  const remove = useChange({
    run: () => api.projects[':id'].$delete({ param }),
    affects,
    done: 'Project deleted. Its keys no longer work.',
  });
  return (
    <Card title="Settings">
      <SpecForm
        specs={PROJECT_FIELDS}
        resource={project}
        submitLabel="Save settings"
        change={save}
        onSubmit={(_, edit) => save.mutate(edit)}
      >
        <ChangeButton kind="danger" onClick={() => setIsDeleting(true)}>
          Delete project
        </ChangeButton>
      </SpecForm>
      {isDeleting && (
        <ConfirmDialog
          title={`Delete ${project.name}?`}
          description={`It served ${recent}. Its keys stop working immediately. Its requests stay in the log.`}
          confirmLabel="Delete project"
          change={remove}
          onConfirm={() => remove.mutate(undefined, { onSuccess: () => void navigate({ to: '/projects' }) })}
          onClose={() => setIsDeleting(false)}
        />
      )}
    </Card>
  );
}
