import type { ReactNode } from 'react';
import { Card } from '../../../ui/card';
import { Failure } from '../../../ui/error-state';
import { ChangeButton } from '../../forms/change-button';
import { ConfirmButton } from '../../forms/confirm-button';
import { Managed } from '../../forms/managed';
import { useRecentRequests } from '../../forms/use-impact';
import type { TabProps } from './settings-tabs';
import { useDeleteProject, useSaveProject } from './use-project-changes';

/** Changes that stop applications; each asks once more. */
export function DangerTab({ project }: TabProps) {
  const recent = useRecentRequests({ project_id: project.id, group_by: 'project', is: project.id });
  const save = useSaveProject(project);
  const remove = useDeleteProject(project);
  const serve = (isActive: boolean) => ({ opened: project, changes: { is_active: isActive } });
  return (
    <Managed of={{ resource: 'project', id: project.id }} at="page">
      <Card title="Danger">
        <ul className="divide-y">
          {project.is_active ? (
            <Step title="Stop serving" text="All requests with its keys are refused until you start it again.">
              <ConfirmButton
                title={`Stop serving ${project.name}?`}
                impact={`It got ${recent}. Requests with its keys are refused until you start it again.`}
                confirmLabel="Stop serving"
                change={save}
                onConfirm={(close) => save.mutate(serve(false), { onSuccess: close })}
              >
                Stop serving
              </ConfirmButton>
            </Step>
          ) : (
            <Step title="Serve requests again" text="It is stopped: all requests with its keys are refused.">
              <ChangeButton disabled={save.isPending} onClick={() => save.mutate(serve(true))}>
                Serve requests
              </ChangeButton>
            </Step>
          )}
          <Step title="Delete this project" text="Its keys stop working immediately. Its requests stay in the log.">
            <ConfirmButton
              title={`Delete ${project.name}?`}
              impact={`It got ${recent}. Its keys stop working immediately. Its requests stay in the log.`}
              confirmLabel="Delete project"
              change={remove}
              onConfirm={() => remove.mutate()}
            >
              Delete project
            </ConfirmButton>
          </Step>
        </ul>
        {!project.is_active && <Failure of={save} />}
      </Card>
    </Managed>
  );
}

interface StepProps {
  readonly title: string;
  readonly text: string;
  readonly children: ReactNode;
}

const Step = ({ title, text, children }: StepProps) => (
  <li className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 py-3">
    <div className="min-w-0">
      <h3 className="font-medium">{title}</h3>
      <p className="text-muted">{text}</p>
    </div>
    {children}
  </li>
);
