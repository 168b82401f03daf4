import { useMemo } from 'react';
import { useModels } from '../../api/models';
import { answersOf, useErrors, useLatency, useSpend } from '../../api/stats';
import type { Page } from '../../range/use-page';
import { type ModelLine, prepareModels } from './prepare-models';

/** Most models in use; mistyped names count as models here. */
const MOST = '200';

const askedOf = ({ query }: Page) => ({ ...query, interval: 'all', group_by: 'target', top: MOST });

/** Requests of the range by model. */
export const useUsedModels = (page: Page) => useErrors(askedOf(page));

/** All models, those in use in the range first; undefined until both prices and use are there, so that no row moves. */
export function useModelLines(page: Page) {
  const models = useModels();
  const asked = askedOf(page);
  const latency = useLatency({ ...asked, ...answersOf('upstream') }, 'upstream');
  const [errors, spend] = [useUsedModels(page), useSpend(asked)];
  const uses = [errors, latency, spend];
  const isLoading = models.data === undefined || uses.some(({ data, error }) => data === undefined && error === null);
  const lines = useMemo((): readonly ModelLine[] | undefined => {
    if (isLoading || models.data === undefined) return undefined;
    return prepareModels(models.data, {
      ...{ errors: errors.data?.buckets ?? [], latency: latency.data?.buckets ?? [] },
      spend: spend.data?.buckets ?? [],
    });
  }, [isLoading, models.data, errors.data, latency.data, spend.data]);
  return { models, lines, failed: uses.find(({ error }) => error !== null) };
}
