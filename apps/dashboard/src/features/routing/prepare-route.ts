import type { Alias } from '../../api/routing';
import type { Route, RouteStep } from '../../charts/route/prepare-route';
import { formatTarget } from '../../format/format-target';
import type { FormValues } from '../forms/prepare-form';
import { parseRows, readShare, type TargetRow } from './prepare-targets';

type Order = Alias['strategy'] | 'chain';

interface Context {
  /** True unless a provider is known not to be set up. */
  readonly isSetUp: (provider: string) => boolean;
  /** True unless the price list is known to lack it. */
  readonly isPriced: (provider: string, model: string) => boolean;
  /** Tier of the local model that ends a chain. */
  readonly localTier?: string | null;
}

const ERROR = 'error to the caller';
const ENDS: Readonly<Record<string, string>> = {
  on: 'preset chain of each target, then an error',
  off: `${ERROR}, no other target`,
};

/** The route that an alias' form describes, as far as it is filled in. */
export const prepareAliasRoute = (values: FormValues, context: Context): Route => ({
  start: String(values.alias ?? '').trim() || 'the alias',
  steps: stepsOf(values, String(values.strategy ?? 'priority') as Order, context),
  goesOn: values.failover !== 'off',
  end: ENDS[String(values.failover ?? '')] ?? ERROR,
});

/** The route of a chain, which begins at the requested model. */
export const prepareChainRoute = (values: FormValues, context: Context): Route => ({
  start: 'the requested model, then the others in order',
  steps: stepsOf(values, 'chain', context),
  goesOn: true,
  startFails: true,
  end: context.localTier ? `local model (${context.localTier}), then an error` : ERROR,
});

function stepsOf(values: FormValues, order: Order, { isSetUp, isPriced }: Context): RouteStep[] {
  const rows = parseRows(String(values.targets ?? '')).filter(isFilled);
  return rows.map((row, index) => ({
    ...{ name: nameOf(row), isSkipped: !isSetUp(row.provider.trim()) },
    isUnpriced: row.model.trim() !== '' && !isPriced(row.provider.trim(), row.model.trim()),
    ...beginningOf(row, index, order),
  }));
}

const isFilled = ({ provider, model }: TargetRow) => provider.trim() !== '' || model.trim() !== '';
const nameOf = ({ provider, model }: TargetRow) =>
  formatTarget({ provider: provider.trim() || '?', model: model.trim() || '?' });

const LABELS: Partial<Record<Order, string>> = { least_latency: 'fastest', cheapest: 'cheapest' };

function beginningOf({ share: typed }: TargetRow, index: number, order: Order): Pick<RouteStep, 'label' | 'share'> {
  if (order === 'weighted') {
    const share = readShare(typed);
    if (share === 0) return { label: null, share: 0 };
    return share === null ? { label: '?', share: null } : { label: `${share / 100} %`, share: share / WHOLE };
  }
  const label = LABELS[order];
  if (label !== undefined) return { label, share: null };
  if (index > 0) return { label: null, share: null };
  return order === 'chain' ? { label: 'fails', share: null } : { label: 'first', share: 1 };
}

/** Hundredths of a percent. */
const WHOLE = 10_000;

/** Conditions that the picture cannot show. */
export function notesOf(values: FormValues): readonly string[] {
  return [
    ...(values.session_affinity === true ? ['A conversation stays with the target that has its prompt cached.'] : []),
    ...(values.retry_timeouts === true ? ['A time-out counts as a failure.'] : []),
  ];
}
