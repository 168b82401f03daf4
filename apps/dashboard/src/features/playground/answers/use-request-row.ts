import { useQuery } from '@tanstack/react-query';
import { api, read } from '../../../api/client';

const EVERY_MS = 700;
const MOST_LOOKS = 15;

/** A request's row, once it exists. `null`: none is asked for. */
export const useRequestRow = (requestId: string | null) =>
  useQuery({
    queryKey: ['logs', 'trace', requestId],
    queryFn: async () => (await read(api.logs.$get({ query: { request_id: requestId ?? '' } }))).data[0] ?? null,
    enabled: requestId !== null,
    refetchInterval: ({ state }) => (state.data || state.dataUpdateCount >= MOST_LOOKS ? false : EVERY_MS),
  });
