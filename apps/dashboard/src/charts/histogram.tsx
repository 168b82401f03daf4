import { formatCount, formatMs } from '../format/format-number';

interface Bin {
  readonly from_ms: number;
  readonly to_ms: number;
  readonly requests: number;
}

const HEIGHT = 120;

/** Histogram of durations; a click shows longer requests. */
export function Histogram({
  bins,
  onSelect,
}: {
  readonly bins: readonly Bin[] | undefined;
  readonly onSelect: (fromMs: number) => void;
}) {
  if (bins === undefined)
    return <div className="rounded bg-hover/60" style={{ height: HEIGHT + 20 }} aria-busy="true" />;
  if (bins.length === 0) return <p className="py-8 text-center text-muted">Nothing was measured in this range.</p>;
  const most = Math.max(...bins.map(({ requests }) => requests));
  return (
    <div>
      <ul className="flex items-end gap-px" style={{ height: HEIGHT }} aria-label="Requests by duration">
        {bins.map((bin) => {
          const text = `${formatMs(bin.from_ms)} to ${formatMs(bin.to_ms)}: ${formatCount(bin.requests)} requests`;
          return (
            <li key={bin.from_ms} className="flex h-full min-w-0 flex-1 items-end">
              <button
                type="button"
                title={text}
                aria-label={text}
                onClick={() => onSelect(bin.from_ms)}
                className="w-full rounded-t-[2px] bg-accent/70 hover:bg-accent"
                style={{ height: `${Math.max(1, (bin.requests / most) * 100)}%` }}
              />
            </li>
          );
        })}
      </ul>
      <div className="nums mt-1 flex justify-between text-2xs text-faint">
        <span>{formatMs(bins[0]?.from_ms)}</span>
        {bins.length > 1 && <span>{formatMs(bins[Math.floor(bins.length / 2)]?.from_ms)}</span>}
        <span>{formatMs(bins.at(-1)?.to_ms)}</span>
      </div>
    </div>
  );
}
