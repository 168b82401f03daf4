import { colorOf } from '../../charts/series-colors';
import { formatTarget } from '../../format/format-target';
import { toShares } from './prepare-targets';

interface Target {
  readonly provider: string;
  readonly model: string;
  readonly is_configured: boolean;
  readonly is_priced: boolean;
  readonly weight?: number;
}

/** Diagram of targets in their order; unavailable ones are dashed. */
export function TargetFlow({
  targets,
  showWeights = false,
}: {
  readonly targets: readonly Target[];
  readonly showWeights?: boolean;
}) {
  const shares = toShares(targets.map(({ weight = 1 }) => weight));
  return (
    <ol className="flex flex-wrap items-center gap-y-1.5">
      {targets.map((target, index) => (
        <li key={`${target.provider} ${target.model}`} className="flex max-w-full items-center">
          {index > 0 && (
            <span aria-hidden="true" className="px-1.5 text-faint">
              →
            </span>
          )}
          <span
            title={target.is_configured ? formatTarget(target) : `${formatTarget(target)}: not set up, skipped`}
            className={`inline-flex max-w-80 min-w-0 items-center gap-1.5 rounded-md border px-2 py-1 text-xs ${target.is_configured ? 'border-line-strong' : 'border-dashed text-faint'}`}
          >
            <span className="size-2 shrink-0 rounded-[2px]" style={{ background: colorOf(target.provider) }} />
            <span className="truncate">{formatTarget(target)}</span>
            {showWeights && <span className="nums text-muted">{shares[index]} %</span>}
            {!target.is_priced && <span className="text-warn">no price</span>}
            {!target.is_configured && <span className="shrink-0 text-warn">not set up</span>}
          </span>
        </li>
      ))}
    </ol>
  );
}
