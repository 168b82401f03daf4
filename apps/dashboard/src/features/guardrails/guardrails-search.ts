import { dropUndefined, oneOf } from '../../range/page-search';

/** Address parameters of the guardrails page. */
export interface GuardrailsSearch {
  readonly tab?: 'bench' | 'hits';
  readonly by?: 'check' | 'action' | 'outcome' | 'project';
}

const readTab = oneOf(['bench', 'hits'] as const);
const readBy = oneOf(['check', 'action', 'outcome', 'project'] as const);

export const readGuardrailsSearch = (search: Readonly<Record<string, unknown>>): GuardrailsSearch =>
  dropUndefined({ tab: readTab(search.tab), by: readBy(search.by) });
