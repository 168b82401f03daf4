import { useMemo } from 'react';
import { type Budget, useBudgets } from '../../../api/stats';
import { prepareNext, prepareOutlooks } from './prepare-outlooks';

/** The tightest budgets; only so many have a forecast. */
const MOST = '200';
const NONE: readonly Budget[] = [];

/** Outlooks of all owners of one kind; not ready while they load. */
export function useOutlooks(scope: Budget['scope'], projectId?: string) {
  const query = { scope, limit: MOST, ...(projectId === undefined ? {} : { project_id: projectId }) };
  const { data, error } = useBudgets(query);
  const budgets = data?.data ?? NONE;
  return {
    scope,
    isReady: data !== undefined || error !== null,
    outlooks: useMemo(() => prepareOutlooks(budgets), [budgets]),
    next: useMemo(() => prepareNext(budgets), [budgets]),
    hasBudgets: budgets.length > 0,
  };
}
