import type { AnswerFrom } from '@llm0/gateway/admin/route-types';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { ApiError, api, read, send } from './client';
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
  const isPerson = useSession().data?.user != null;
  const client = useQueryClient();
  return useMutation({
    // People sign out at their provider as well.
    mutationFn: async () => (isPerson ? location.assign('/auth/logout') : void (await api.session.$delete())),
    onSettled: () => {
      if (isPerson) return;
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

/** The permission that changes take within it. */
export const Needed = createContext<Permission>('change_settings');

/** May this session change things here? */
export function useMayChange(): boolean {
  const isLocked = useContext(Locked);
  return useMay(useContext(Needed)) && !isLocked;
}

/** True if the session has the permission everywhere, or in at least one team. */
export const useMay = (permission: Permission): boolean => useSession().data?.permissions.includes(permission) === true;

export type Permission = AnswerFrom<typeof api.session.$get>['permissions'][number];

interface SignInChoices {
  readonly data: readonly { readonly id: string; readonly name: string }[];
  readonly is_required: boolean;
}

/** Identity providers to sign in with; admin tokens work unless one is required. */
export const useSignInChoices = () =>
  useQuery({
    queryKey: ['sign-in-choices'],
    queryFn: async (): Promise<SignInChoices> => (await send('/auth/providers')).json(),
  });
