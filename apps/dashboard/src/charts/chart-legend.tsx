import type { KeyboardEvent, MouseEvent } from 'react';
import { chooseSeries, type Shown, visibleData } from './prepare-legend';
import type { ChartData } from './prepare-series';

export const MAX_LEGEND = 12;

interface Props {
  readonly data: ChartData;
  readonly shown: Shown;
  readonly onShown: (shown: Shown) => void;
}

const isModified = (event: MouseEvent | KeyboardEvent) => event.shiftKey || event.ctrlKey || event.metaKey;

/** Explains the colours. A click isolates a series or shows all; with Shift, Ctrl or ⌘ it toggles one. */
export function ChartLegend({ data, shown, onShown }: Props) {
  const names = data.series.map(({ name }) => name);
  const visible = new Set(visibleData(data, shown, names).series.map(({ name }) => name));
  const hidden = data.series.length - MAX_LEGEND;
  const choose = (name: string, event: MouseEvent | KeyboardEvent) =>
    onShown(chooseSeries(shown, name, names, isModified(event)));
  return (
    <ul className="mt-1 -ml-1.5 flex min-w-0 flex-wrap gap-x-1.5" aria-label="Series">
      {data.series.slice(0, MAX_LEGEND).map(({ name, label, color }) => (
        <li key={name} className="max-w-60 min-w-0">
          <button
            type="button"
            aria-pressed={visible.has(name)}
            title={`${label}. Click to show only this one. Shift-click to hide or show it.`}
            onClick={(event) => choose(name, event)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || !isModified(event)) return;
              event.preventDefault();
              choose(name, event);
            }}
            className="flex max-w-full items-center gap-1.5 rounded px-1.5 py-1 select-none hover:bg-hover hover:text-text"
          >
            <span
              className={`size-2 shrink-0 rounded-[2px] ${visible.has(name) ? '' : 'opacity-30'}`}
              style={{ background: color }}
            />
            <span className={`truncate ${visible.has(name) ? '' : 'line-through'}`}>{label}</span>
          </button>
        </li>
      ))}
      {hidden > 0 && <li className="px-1.5 py-1">and {hidden} more</li>}
    </ul>
  );
}
