import { text } from '../../range/page-search';
import { type FinanceSearch, readFinanceSearch } from '../finance/finance-search';

/** Address parameters of spend and statements. */
export interface MoneySearch extends FinanceSearch {
  readonly tab?: 'statement';
}

/** Filters of a statement would be silent on the other tab, so only the grouping goes there. */
export function readMoneySearch(search: Record<string, unknown>): MoneySearch {
  const statement = readFinanceSearch(search);
  if (search.tab === 'statement') return { tab: 'statement', ...statement };
  const by = text(search.by);
  return by === undefined ? {} : { by };
}
