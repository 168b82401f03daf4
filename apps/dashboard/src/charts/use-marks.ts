import { useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTimeline } from '../api/timeline';
import type { PageSearch } from '../range/page-search';
import type { Page } from '../range/use-page';
import { type ChartMark, prepareMarks } from './prepare-marks';

const NONE: readonly ChartMark[] = [];

/** Marks of a range; empty while disabled. */
export function useMarks(query: Page['query'] | undefined): readonly ChartMark[] {
  const { marks } = useSearch({ strict: false }) as PageSearch;
  const isShown = marks !== 'off';
  const { data } = useTimeline(query, isShown);
  return useMemo(() => (isShown && data !== undefined ? prepareMarks(data) : NONE), [isShown, data]);
}
