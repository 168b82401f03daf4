import type { ReactNode } from 'react';
import { formatMs, NOTHING } from '../../format/format-number';
import { axisLabels } from '../prepare-ticks';
import { MEANING } from '../series-colors';
import type { Waterfall as Prepared, Step, StepKind } from './prepare-waterfall';

/** Forced colors would paint every bar like the page. */
const SOLID = 'forced-color-adjust-none forced-colors:bg-[CanvasText]';
const HOLLOW = 'border border-dashed border-muted';
const BARS: Readonly<Record<StepKind, string>> = {
  gateway: `bg-muted ${SOLID}`,
  attempt: `bg-accent ${SOLID}`,
  failed: `bg-bad ${SOLID}`,
  cancelled: `bg-faint ${SOLID}`,
  skipped: HOLLOW,
  wait: HOLLOW,
  generation: `bg-good ${SOLID}`,
  exact: SOLID,
  semantic: SOLID,
  unknown: HOLLOW,
};
const CACHE_COLORS: Partial<Record<StepKind, string>> = { exact: MEANING.exact, semantic: MEANING.semantic };

/** Labels from here on would leave the axis. */
const LAST = 0.9;

interface Props<S extends Step> {
  readonly waterfall: Omit<Prepared, 'steps'> & { readonly steps: readonly S[] };
  readonly heading?: string;
  readonly caption?: string;
  /** Default: the name alone. */
  readonly drawName?: (step: S) => ReactNode;
}

/** Time of one request by step: a table, with a bar below each line on one time axis. */
export function Waterfall<S extends Step>({
  waterfall: { steps, wholeMs, ticks, note },
  heading = 'Waterfall',
  caption = 'Steps of this request, in the order of their start',
  drawName = ({ name }) => name,
}: Props<S>) {
  const shareOf = (ms: number) => ms / wholeMs;
  const labels = axisLabels('ms', ticks);
  const places = ticks.map(shareOf);
  return (
    <section>
      <h3 className="mb-1 text-xs font-semibold text-muted">
        {heading}, {formatMs(wholeMs)} in total
      </h3>
      <div aria-hidden="true" className="relative h-4 text-2xs text-faint">
        {places.map((share, index) => (
          <span
            key={share}
            className={`nums absolute ${index === 0 ? '' : share > LAST ? '-translate-x-full' : '-translate-x-1/2'}`}
            style={{ left: percent(share) }}
          >
            {labels[index]}
          </span>
        ))}
      </div>
      <table className="w-full">
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr>
            {['Step', 'Start', 'Time'].map((heading) => (
              <th key={heading} scope="col" className="p-0">
                <span className="sr-only">{heading}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {steps.map((step, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: steps have nothing else, and do not change
            <StepRow key={index} {...{ step, places }} start={shareOf(step.startMs)} length={shareOf(step.ms)}>
              {drawName(step)}
            </StepRow>
          ))}
        </tbody>
      </table>
      {note !== null && <p className="text-xs text-muted">{note}</p>}
    </section>
  );
}

interface RowProps {
  readonly step: Step;
  /** Shares (0…1) of the whole time: the ticks, and this step. */
  readonly places: readonly number[];
  readonly start: number;
  readonly length: number;
  readonly children: ReactNode;
}

function StepRow({ step: { kind, detail, startMs, ms, depth = 0 }, places, start, length, children }: RowProps) {
  return (
    <tr className="relative align-top text-xs">
      <th scope="row" className={`pt-1 pr-3 pb-4.5 text-left font-normal wrap-anywhere ${depth > 0 ? 'pl-4' : ''}`}>
        <span className={`font-medium ${kind === 'failed' ? 'text-bad' : ''}`}>{children}</span>{' '}
        <span className="text-muted">{detail}</span>
        <span aria-hidden="true" className="absolute inset-x-0 bottom-1.5 h-2.5 overflow-hidden rounded-sm bg-hover">
          {places.map((share) => (
            <span
              key={share}
              className="absolute inset-y-0 border-l border-line-strong"
              style={{ left: percent(share) }}
            />
          ))}
          <span
            className={`absolute inset-y-0 min-w-[3px] rounded-[2px] ${BARS[kind]}`}
            // The shortest bar is still seen at the very end.
            style={{
              left: `min(${percent(start)}, calc(100% - 3px))`,
              width: percent(length),
              background: CACHE_COLORS[kind],
            }}
          />
        </span>
      </th>
      <td className="p-0">
        <span className="sr-only">{formatMs(startMs)}</span>
      </td>
      <td className="nums pt-1 pb-4.5 text-right text-muted">{kind === 'skipped' ? NOTHING : formatMs(ms)}</td>
    </tr>
  );
}

const percent = (share: number) => `${share * 100}%`;
