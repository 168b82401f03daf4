import type { AnswerFrom } from '@llm0/gateway/admin/route-types';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, read } from './client';
import { useLive } from './live';

export type TimelineEvent = AnswerFrom<typeof api.timeline.$get>['data'][number];

interface TimelineQuery {
  readonly from: string;
  readonly to: string;
  readonly project_id?: string;
}

const REFRESH_MS = 30_000;

/** Events of a range, newest first; not loaded without a range. */
export function useTimeline(query: TimelineQuery | undefined, enabled: boolean) {
  const client = useQueryClient();
  const isOn = enabled && query !== undefined;
  // The stream doesn't report starts; they appear when the range advances.
  const again = () => void client.invalidateQueries({ queryKey: ['timeline'] });
  const isTold = useLive({ topic: 'audit', isOn, onNews: again, onReset: again });
  return useQuery({
    queryKey: ['timeline', query],
    queryFn: async () => (query === undefined ? [] : (await read(api.timeline.$get({ query }))).data),
    enabled: isOn,
    placeholderData: keepPreviousData,
    refetchInterval: isTold ? false : REFRESH_MS,
  });
}
