import { formatCompact, formatCount, formatMsShort } from '../../format/format-number';
import { PointedArea } from '../pointed/pointed-area';
import { MEANING } from '../series-colors';
import { Pointed } from '../strip/strip';
import type { Bin } from './prepare-bins';
import { DISTRIBUTION_HEIGHT, describeBin, PITCH, type Distribution as Prepared } from './prepare-distribution';

interface Props {
  readonly label: string;
  readonly distribution: Prepared;
  readonly onSelect: (bin: Bin) => void;
}

/** Requests by duration on a logarithmic axis. */
export function Distribution({ label, distribution, onSelect }: Props) {
  const { bins, ticks, counts, paths, requests } = distribution;
  return (
    <div className="grid grid-cols-[2.25rem_minmax(0,1fr)]">
      <CountAxis counts={counts} />
      <div className="relative h-44 border-b">
        {counts.slice(1).map(({ count, share }) => (
          <span
            key={count}
            aria-hidden="true"
            className="absolute inset-x-0 border-t"
            style={{ bottom: `${share * 100}%` }}
          />
        ))}
        <svg
          viewBox={`0 0 ${bins.length * PITCH} ${DISTRIBUTION_HEIGHT}`}
          preserveAspectRatio="none"
          className="absolute inset-0 size-full forced-color-adjust-none"
          aria-hidden="true"
        >
          <path d={paths.others} fill={MEANING.miss} />
          <path d={paths.hits} fill={MEANING.exact} />
        </svg>
        <PointedArea label={label} parts={bins} describe={(bin) => describeBin(bin, requests)} onChoose={onSelect}>
          {(bin, index) => (
            <Pointed {...{ index, count: bins.length }} text={describeBin(bin, requests)} opens="these requests" />
          )}
        </PointedArea>
      </div>
      <span />
      <Axis ticks={ticks} />
      <Legend {...distribution} />
    </div>
  );
}

const CountAxis = ({ counts }: Pick<Prepared, 'counts'>) => (
  <div aria-hidden="true" className="relative h-44 text-2xs text-faint">
    {counts.map(({ count, share }) => (
      <span
        key={count}
        className="nums absolute right-1.5 translate-y-1/2 leading-none"
        style={{ bottom: `${share * 100}%` }}
      >
        {formatCompact(count)}
      </span>
    ))}
  </div>
);

/** Labels nearer to an end would leave the axis. */
const EDGE = 0.04;

const Axis = ({ ticks }: Pick<Prepared, 'ticks'>) => (
  <div aria-hidden="true" className="relative mt-1 h-4 text-2xs text-faint">
    {ticks.map(({ ms, share }) => (
      <span
        key={ms}
        className={`nums absolute ${share < EDGE ? '' : share > 1 - EDGE ? '-translate-x-full' : '-translate-x-1/2'}`}
        style={{ left: `${share * 100}%` }}
      >
        {formatMsShort(ms)}
      </span>
    ))}
  </div>
);

const Legend = ({ requests, hits }: Prepared) => (
  <ul className="col-span-2 mt-1 flex flex-wrap gap-x-3 text-xs text-muted" aria-label="Meaning of the distribution">
    <li className="nums">n = {formatCount(requests)}</li>
    <li className="flex items-center gap-1.5">
      <span className="size-2 rounded-[2px] forced-color-adjust-none" style={{ background: MEANING.miss }} />
      Other requests <span className="nums">{formatCount(requests - hits)}</span>
    </li>
    <li className="flex items-center gap-1.5">
      <span className="size-2 rounded-[2px] forced-color-adjust-none" style={{ background: MEANING.exact }} />
      Cache hits <span className="nums">{formatCount(hits)}</span>
    </li>
  </ul>
);
