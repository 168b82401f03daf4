import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { useToast } from '../ui/toast';

export interface ChangeOptions<I, O> {
  readonly run: (input: I) => Promise<O>;
  /** Prefixes of query keys to reload. */
  readonly affects: readonly QueryKey[];
  /** Message after success. */
  readonly done?: string | ((output: O) => string);
}

/** A change through the admin API: reloads affected queries and shows the result. */
export function useChange<I, O>({ run, affects, done }: ChangeOptions<I, O>) {
  const client = useQueryClient();
  const toast = useToast();
  return useMutation({
    mutationFn: run,
    onSuccess: async (output: O) => {
      if (done !== undefined) toast(typeof done === 'string' ? done : done(output));
      await Promise.all(affects.map((queryKey) => client.invalidateQueries({ queryKey })));
    },
  });
}
