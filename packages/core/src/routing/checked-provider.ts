import type { Target } from './target';
import type { TargetStatus } from './target-health';

/** No provider's name has a colon. */
const PREFIX = 'check:';

/** Stands for a whole provider among the targets: its health checks pause it. */
export const checkedTarget = (provider: string): Target => ({ provider: `${PREFIX}${provider}`, model: '' });

/** The provider that the target stands for; undefined for a real target. */
export const checkedProvider = ({ provider }: Pick<Target, 'provider'>): string | undefined =>
  provider.startsWith(PREFIX) ? provider.slice(PREFIX.length) : undefined;

/** Providers that are paused because their last check failed. */
export const failingChecks = (targets: readonly TargetStatus[]): readonly string[] =>
  targets.flatMap((target) => (target.coolForMs > 0 ? (checkedProvider(target) ?? []) : []));
