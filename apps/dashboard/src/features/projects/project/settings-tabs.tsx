import type { Project } from '../../../api/projects';
import { Card } from '../../../ui/card';
import { Managed } from '../../forms/managed';
import { type FieldSpec, fillForm } from '../../forms/prepare-form';
import { SpecForm } from '../../forms/spec-form';
import { CACHING_FIELDS, LIMIT_FIELDS } from './prepare-tabs';
import { useSaveProject } from './use-project-changes';

export interface TabProps {
  readonly project: Project;
}

export const LimitsTab = ({ project }: TabProps) => <Settings title="Limits" fields={LIMIT_FIELDS} project={project} />;

export const CachingTab = ({ project }: TabProps) => (
  <Settings title="Caching" fields={CACHING_FIELDS} project={project} />
);

interface Props extends TabProps {
  readonly title: string;
  readonly fields: readonly FieldSpec[];
}

function Settings({ title, fields, project }: Props) {
  const save = useSaveProject(project);
  return (
    <Managed of={{ resource: 'project', id: project.id }} at="page">
      <Card title={title}>
        <SpecForm
          // Begins again once its own fields were saved; input in other tabs stays.
          key={JSON.stringify(fillForm(fields, project))}
          specs={fields}
          resource={project}
          submitLabel="Save settings"
          change={save}
          onSubmit={(_, edit) => save.mutate(edit)}
        />
      </Card>
    </Managed>
  );
}
