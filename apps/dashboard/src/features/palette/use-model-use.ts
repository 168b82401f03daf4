import { useMemo, useState } from 'react';
import { useProviders } from '../../api/routing';
import { useMay } from '../../api/session';
import { useErrors } from '../../api/stats';
import { formatTarget } from '../../format/format-target';
import { rangeQuery, untilNow } from '../../range/time-range';
import type { Command } from './prepare-palette';

const USED_FOR_MS = 30 * 86_400_000;
/** The busiest; a catalogue has hundreds without a request. */
const MOST = '200';

/** Tells models with requests in the last 30 days, and those of providers that are set up. */
export function useModelUse(): (model: { readonly provider: string; readonly model: string }) => Command['use'] {
  const [toMs] = useState(() => untilNow(Date.now()));
  const range = rangeQuery({ fromMs: toMs - USED_FOR_MS, toMs });
  const mayRead = useMay('read_stats');
  const buckets = useErrors({ ...range, interval: 'all', group_by: 'target', top: MOST }, mayRead).data?.buckets;
  const providers = useProviders().data?.data;
  return useMemo(() => {
    const used = new Set(buckets?.filter(({ requests }) => requests > 0).map(({ group }) => group));
    const ready = new Set(providers?.filter((one) => one.is_configured && one.is_active).map(({ name }) => name));
    return (model) => (used.has(formatTarget(model)) ? 'used' : ready.has(model.provider) ? 'ready' : undefined);
  }, [buckets, providers]);
}
