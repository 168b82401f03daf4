import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { useToast } from '../ui/toast';

export interface ChangeOptions<I, O> {
  readonly run: (input: I) => Promise<O>;
  /** Queries whose keys begin so are asked again. */
  readonly affects: readonly QueryKey[];
  /** Said when it is done. */
  readonly done?: string | ((output: O) => string);
}

/** A change through the admin API: what it affects is read again, and the result is said. */
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
