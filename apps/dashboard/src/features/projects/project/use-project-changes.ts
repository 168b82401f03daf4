import { useNavigate } from '@tanstack/react-router';
import { useChange } from '../../../api/change';
import { api } from '../../../api/client';
import type { Project, ProjectInput } from '../../../api/projects';
import { useSave } from '../../forms/use-save';

const AFFECTS = [['projects'], ['budgets'], ['finance']];

/** Saves changed settings unless another user changed the same ones. */
export function useSaveProject({ id }: Project) {
  const param = { id };
  return useSave({
    read: () => api.projects[':id'].$get({ param }),
    write: (changes, options) => api.projects[':id'].$patch({ param, json: changes as ProjectInput }, options),
    affects: AFFECTS,
    done: 'Saved. Changes apply from the next request.',
  });
}

/** Leaves the page before the list reloads: without its project, the page would be gone. */
export function useDeleteProject({ id }: Project) {
  const navigate = useNavigate();
  return useChange({
    run: async () => {
      await api.projects[':id'].$delete({ param: { id } });
      await navigate({ to: '/projects' });
    },
    affects: AFFECTS,
    done: 'Project deleted. Its keys no longer work.',
  });
}
