import { useProjects } from '../../api/projects';
import type { Page } from '../../range/use-page';
import { Select } from '../../ui/field';

export function ProjectFilter({ page }: { readonly page: Page }) {
  const { data } = useProjects();
  return (
    <Select
      aria-label="Project"
      className="w-40"
      value={page.projectId ?? ''}
      onChange={(event) => page.change({ project: event.target.value || undefined })}
    >
      <option value="">All projects</option>
      {data?.data.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </Select>
  );
}
