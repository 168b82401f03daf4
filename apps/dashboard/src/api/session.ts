import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { ApiError, api, read } from './client';
import { resumeAfterSignIn } from './expired-session';

/** Current session; null without one. */
export function useSession() {
  return useQuery({
    queryKey: ['session'],
    queryFn: async () => {
      try {
        return await read(api.session.$get());
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) return null;
        throw error;
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export function useSignIn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (token: string) => read(api.session.$post({ json: { token } })),
    onSuccess: (session) => {
      client.setQueryData(['session'], session);
      resumeAfterSignIn();
    },
  });
}

export function useSignOut() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => api.session.$delete(),
    onSettled: () => {
      // Clearing all queries would leave the session's observers with a removed query.
      client.setQueryData(['session'], null);
      // Drafts in this tab belong to the previous user.
      sessionStorage.clear();
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
    },
  });
}

/** True within a resource that a configuration file manages, until the user unlocks it. */
export const Locked = createContext(false);

/** May this session change things here? */
export function useMayChange(): boolean {
  const isLocked = useContext(Locked);
  return useSession().data?.role === 'admin' && !isLocked;
}
