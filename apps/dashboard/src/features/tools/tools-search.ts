import { OUTCOME_LABELS } from '../../format/outcome-labels';
import { oneOf, text } from '../../range/page-search';

/** Outcome → label. */
export const OUTCOMES = {
  success: OUTCOME_LABELS.success,
  failed: 'Not successful',
  error: OUTCOME_LABELS.error,
  rate_limited: OUTCOME_LABELS.rate_limited,
  cap_exceeded: OUTCOME_LABELS.cap_exceeded,
  aborted: OUTCOME_LABELS.aborted,
} as const;

/** Address parameters of the tools page. */
export interface ToolsSearch {
  readonly tab?: 'calls' | 'usage' | 'code';
  readonly server?: string;
  readonly tool?: string;
  readonly run?: string;
  readonly result?: keyof typeof OUTCOMES;
}

const readResult = oneOf(Object.keys(OUTCOMES) as (keyof typeof OUTCOMES)[]);
const readTab = oneOf(['calls', 'usage', 'code'] as const);

export function readToolsSearch(search: Record<string, unknown>): ToolsSearch {
  const read = {
    ...{ tab: readTab(search.tab), server: text(search.server), tool: text(search.tool) },
    ...{ run: text(search.run), result: readResult(search.result) },
  };
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
}
