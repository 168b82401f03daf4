import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
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

/** May this session change things? */
export function useMayChange(): boolean {
  return useSession().data?.role === 'admin';
}
