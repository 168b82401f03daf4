import type { Project } from '../../../api/projects';
import type { DialogOf } from '../../../ui/dialog';
import { SpecDialog } from '../../forms/spec-form';
import { PROFILE_FIELDS } from './prepare-tabs';
import { useSaveProject } from './use-project-changes';

/** Name and labels of a project. */
export function ProfileDialog({ of: project, onClose }: DialogOf<Project>) {
  const save = useSaveProject(project);
  return (
    <SpecDialog
      title="Name and labels"
      onClose={onClose}
      specs={PROFILE_FIELDS}
      resource={project}
      submitLabel="Save"
      change={save}
      onSubmit={(_, edit) => save.mutate(edit, { onSuccess: onClose })}
    />
  );
}
