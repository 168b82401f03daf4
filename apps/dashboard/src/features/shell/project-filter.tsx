import { useProjectOptions } from '../../api/projects';
import type { Page } from '../../range/use-page';
import { Select } from '../../ui/form';

interface Props {
  readonly page: Page;
  /** There is no choice of all projects. */
  readonly isNeeded?: boolean;
}

export function ProjectFilter({ page, isNeeded = false }: Props) {
  return (
    <Select
      aria-label="Project"
      className="w-36 sm:w-40"
      anyLabel={isNeeded ? undefined : 'All projects'}
      options={useProjectOptions()}
      value={page.projectId ?? ''}
      onValue={(project) => page.change({ project: project || undefined })}
    />
  );
}
