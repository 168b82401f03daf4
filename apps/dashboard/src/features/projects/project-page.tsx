import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useProjects } from '../../api/projects';
import { Badge } from '../../ui/badge';
import { EmptyState } from '../../ui/empty-state';
import { Failure } from '../../ui/error-state';
import { Mono } from '../../ui/name';
import { TabbedCards } from '../../ui/tabbed-cards';
import { ChangeButton } from '../forms/change-button';
import { Managed } from '../forms/managed';
import { PageFrame } from '../shell/page-frame';
import { KeysCard } from './keys-card';
import { DangerTab } from './project/danger-tab';
import { GuardrailsTab } from './project/guardrails-tab';
import { ProfileDialog } from './project/profile-dialog';
import { CachingTab, LimitsTab, type TabProps } from './project/settings-tabs';
import { UsageTab } from './project/usage-tab';

const KeysTab = ({ project }: TabProps) => <KeysCard projectId={project.id} />;

const TABS = [
  ['usage', 'Usage', UsageTab],
  ['keys', 'Keys', KeysTab],
  ['limits', 'Limits', LimitsTab, 'kept'],
  ['caching', 'Caching', CachingTab, 'kept'],
  ['guardrails', 'Guardrails', GuardrailsTab],
  ['danger', 'Danger', DangerTab],
] as const;

const ACTION = 'rounded-md px-2 py-1 text-muted hover:bg-hover hover:text-text';

export function ProjectPage() {
  const { projectId } = useParams({ from: '/projects/$projectId' });
  const projects = useProjects();
  const [isRenaming, setIsRenaming] = useState(false);
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
        <>
          {!project.is_active && <Badge tone="warn">off: its requests are refused</Badge>}
          <Link to="/requests" search={{ project: project.id }} className={ACTION}>
            View requests
          </Link>
          <ChangeButton onClick={() => setIsRenaming(true)}>Name and labels</ChangeButton>
        </>
      }
    >
      <TabbedCards key={project.id} label="Project" tabs={TABS} given={{ project }} />
      {isRenaming && (
        <Managed of={{ resource: 'project', id: project.id }} at="dialog">
          <ProfileDialog of={project} onClose={() => setIsRenaming(false)} />
        </Managed>
      )}
    </PageFrame>
  );
}
