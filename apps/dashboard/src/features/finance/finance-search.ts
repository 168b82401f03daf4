import { UUID } from '../../range/uuid';

/** Groups that have a button of their own; other labels are chosen from a list. */
export const GROUPS = {
  organization: 'Organization',
  team: 'Team',
  cost_center: 'Cost center',
  project: 'Project',
  customer: 'Customer',
  key: 'Key',
  model: 'Model',
  provider: 'Provider',
  modality: 'Modality',
} as const;

const LABEL = /^label\.[a-z0-9][a-z0-9._-]{0,62}$/;
const isId = (value: string) => UUID.test(value);
const MONTH = /^(?:19|2\d)\d\d-(?:0[1-9]|1[0-2])$/;
export const DECIMALS = {
  auto: 'Decimals: automatic',
  '2': '2 decimals',
  '4': '4 decimals',
  '9': '9 decimals',
} as const;

/** Filters of the statement, by API names; a label as `name=value`. */
export const FILTERS = {
  ...{ model: 'Model', provider: 'Provider', modality: 'Modality', customer_id: 'Customer' },
  ...{ cost_center: 'Cost center', label: 'Label' },
} as const;
/** Filters that a row sets, by ids. */
export const LEVEL_FILTERS = { organization_id: 'Organization', team_id: 'Team' } as const;
export type FilterName = keyof typeof FILTERS | keyof typeof LEVEL_FILTERS;

export interface FinanceSearch extends Partial<Readonly<Record<FilterName, string>>> {
  readonly month?: string;
  readonly by?: string;
  readonly decimals?: Exclude<keyof typeof DECIMALS, 'auto'>;
}

/** Valid parameters of an address; others are dropped. */
export function readFinanceSearch(search: Record<string, unknown>): FinanceSearch {
  const text = (name: string) => {
    const value = search[name];
    return typeof value === 'number' ? String(value) : typeof value === 'string' && value !== '' ? value : undefined;
  };
  const fit = (name: string, isRight: (value: string) => boolean) => {
    const value = text(name);
    return value !== undefined && isRight(value) ? { [name]: value } : {};
  };
  return {
    ...fit('month', (value) => MONTH.test(value)),
    ...fit('by', (value) => Object.hasOwn(GROUPS, value) || LABEL.test(value)),
    ...fit('decimals', (value) => Object.hasOwn(DECIMALS, value) && value !== 'auto'),
    ...{ ...fit('organization_id', isId), ...fit('team_id', isId) },
    ...fit('cost_center', Boolean),
    ...{ ...fit('model', Boolean), ...fit('provider', Boolean), ...fit('modality', Boolean) },
    ...fit('customer_id', Boolean),
    ...fit('label', (value) => /^[^=]+=./.test(value)),
  };
}
