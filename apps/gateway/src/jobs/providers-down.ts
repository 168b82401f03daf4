import type { TargetStatus } from '@llm0/core/routing/target-health';

const MINUTE_MS = 60_000;
/** After this time without requests to an available provider, its state is unknown. */
const IDLE_MS = 60_000;
const MOST_NAMES = 3;

export interface ProvidersDown {
  /** Minutes that the first of them is down. */
  readonly value: number;
  readonly text: string;
  /** Providers that are down for at least the threshold, sorted. */
  readonly subjects: readonly string[];
}

const nameOf = ({ provider, model }: TargetStatus): string => `${provider}/${model}`;
const minutesDown = ({ downForMs = 0 }: TargetStatus): number => downForMs / MINUTE_MS;
const isIdle = ({ mode, halfOpenForMs = 0 }: TargetStatus): boolean => mode === 'half_open' && halfOpenForMs >= IDLE_MS;

/** `threshold`: minutes. */
export function providersDown(targets: readonly TargetStatus[], threshold: number): ProvidersDown {
  const troubled = targets.filter(({ mode }) => mode !== 'closed');
  const down = troubled.filter((one) => !isIdle(one)).toSorted((a, b) => minutesDown(b) - minutesDown(a));
  const [first] = down;
  if (first === undefined) {
    const text =
      troubled.length === 0
        ? 'all providers answer'
        : `no provider is known to be down; not asked since it failed: ${listed(troubled.map(nameOf))}`;
    return { value: 0, text, subjects: [] };
  }
  const value = minutesDown(first);
  const long = down.filter((one) => minutesDown(one) >= threshold);
  const named = (long.length === 0 ? down : long).map(nameOf);
  return { value, text: `${listed(named)} down for ${value.toFixed(1)} min`, subjects: long.map(nameOf).sort() };
}

/** Difference from the last report; '' without one. */
export function newsOf(before: readonly string[], now: readonly string[]): string {
  const added = now.filter((name) => !before.includes(name));
  const gone = before.filter((name) => !now.includes(name));
  const parts = [added.length > 0 && `; new: ${listed(added)}`, gone.length > 0 && `; no longer: ${listed(gone)}`];
  return parts.filter(Boolean).join('');
}

function listed(names: readonly string[]): string {
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  return `${names.slice(0, MOST_NAMES).join(', ')}${more}`;
}
