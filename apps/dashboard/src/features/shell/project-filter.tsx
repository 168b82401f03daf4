import { useProjectOptions } from '../../api/projects';
import type { Page } from '../../range/use-page';
import { Select } from '../../ui/form';

export function ProjectFilter({ page }: { readonly page: Page }) {
  return (
    <Select
      aria-label="Project"
      className="w-36 sm:w-40"
      anyLabel="All projects"
      options={useProjectOptions()}
      value={page.projectId ?? ''}
      onValue={(project) => page.change({ project: project || undefined })}
    />
  );
}
