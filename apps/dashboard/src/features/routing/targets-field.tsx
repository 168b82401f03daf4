import { type KeyboardEvent, useId, useRef } from 'react';
import type { Alias } from '../../api/routing';
import { Button } from '../../ui/button';
import { type Choice, Combobox } from '../../ui/combobox/combobox';
import { Input } from '../../ui/form';
import { Close, Down, Plus, Up } from '../../ui/icons';
import type { WidgetProps } from '../forms/prepare-form';
import { useModelChoices, useProviderChoices } from '../forms/suggested-fields';
import {
  balanced,
  describeRow,
  evenly,
  moved,
  parseRows,
  showRows,
  sumOfShares,
  type TargetRow,
} from './prepare-targets';
import { useIsPriced } from './route-picture';

const EMPTY: TargetRow = { provider: '', model: '', share: '' };

/** Targets in the order they are tried: rows to add, remove and move, by buttons or with Alt and the arrow keys. */
export function TargetsField({ label, error, value, values, onValue }: WidgetProps) {
  const id = useId();
  const list = useRef<HTMLOListElement>(null);
  const rows = value === '' ? [EMPTY] : parseRows(value);
  const strategy = 'strategy' in values ? (values.strategy as Alias['strategy']) : 'chain';
  const set = (next: readonly TargetRow[]) => onValue(showRows(next.length === 0 ? [EMPTY] : next));
  /** The row keeps focus while it moves. */
  const move = (index: number, by: 1 | -1) => {
    const to = index + by;
    if (to < 0 || to >= rows.length) return;
    set(moved(rows, index, by));
    const control = document.activeElement?.getAttribute('data-control');
    requestAnimationFrame(() => {
      const row = list.current?.children[to];
      const same = row?.querySelector<HTMLElement>(`[data-control="${control}"]:not(:disabled)`);
      (same ?? row?.querySelector<HTMLElement>('input'))?.focus();
    });
  };
  return (
    <fieldset aria-describedby={error === null ? undefined : `${id}-error`}>
      <legend className="mb-1 text-xs font-medium text-muted">{label}</legend>
      <ol ref={list} className="grid gap-2">
        {rows.map((row, index) => (
          <Row
            // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place
            key={index}
            {...{ row, index, meaning: describeRow(rows, index, strategy) }}
            count={rows.length}
            hasShare={strategy === 'weighted'}
            onRow={(next) => set(rows.with(index, next))}
            onMove={(by) => move(index, by)}
            onRemove={() => set(rows.toSpliced(index, 1))}
          />
        ))}
      </ol>
      <div className="mt-2 flex flex-wrap items-center gap-2">
        <Button size="small" onClick={() => set([...rows, EMPTY])}>
          <Plus /> Add target
        </Button>
        {strategy === 'weighted' && <Sum rows={rows} onRows={set} />}
      </div>
      {error !== null && (
        <p id={`${id}-error`} role="alert" className="mt-1 text-xs text-bad">
          {error}
        </p>
      )}
    </fieldset>
  );
}

interface RowProps {
  readonly row: TargetRow;
  readonly index: number;
  readonly count: number;
  readonly meaning: string;
  readonly hasShare: boolean;
  readonly onRow: (row: TargetRow) => void;
  readonly onMove: (by: 1 | -1) => void;
  readonly onRemove: () => void;
}

function Row({ row, index, count, meaning, hasShare, onRow, onMove, onRemove }: RowProps) {
  const providers = useProviderChoices();
  const models = useModelChoices(row.provider.trim());
  const isPriced = useIsPriced();
  const place = index + 1;
  const onKeys = (event: KeyboardEvent) => {
    if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
    event.preventDefault();
    event.stopPropagation();
    onMove(event.key === 'ArrowUp' ? -1 : 1);
  };
  return (
    <li className="grid gap-1 rounded-md border px-2 py-2" onKeyDownCapture={onKeys}>
      <div className="flex flex-wrap items-center gap-1.5">
        <span className="nums w-4 shrink-0 text-right text-xs text-muted">{place}</span>
        <div className="min-w-0 flex-1 basis-28">
          <Combobox
            aria-label={`Provider of target ${place}`}
            data-control="provider"
            placeholder="provider"
            choices={providers}
            value={row.provider}
            // A slash in a pasted name parts provider and model.
            onValue={(provider) => {
              const [name = '', ...rest] = provider.split('/');
              onRow({ ...row, provider: name, ...(rest.length > 0 ? { model: rest.join('/') } : {}) });
            }}
          />
        </div>
        <div className="min-w-0 flex-[2] basis-40">
          <Combobox
            aria-label={`Model of target ${place}`}
            data-control="model"
            placeholder="model"
            choices={models}
            value={row.model}
            onValue={(model) => onRow({ ...row, model })}
          />
        </div>
        {hasShare && <Share {...{ row, place, onRow }} />}
        <span className="ml-auto flex">
          <MoveButton {...{ place, onMove }} by={-1} isLast={index === 0} />
          <MoveButton {...{ place, onMove }} by={1} isLast={index === count - 1} />
          <Button kind="ghost" size="small" aria-label={`Remove target ${place}`} onClick={onRemove}>
            <Close />
          </Button>
        </span>
      </div>
      <p className="pl-5.5 text-xs text-muted">
        {meaning} <Doubt {...{ row, providers }} isPriced={isPriced(row.provider.trim(), row.model.trim())} />
      </p>
    </li>
  );
}

function Share({ row, place, onRow }: Pick<RowProps, 'row' | 'onRow'> & { readonly place: number }) {
  return (
    <span className="inline-flex items-center gap-1">
      <Input
        aria-label={`Share of target ${place}, %`}
        data-control="share"
        className="w-16! text-right"
        inputMode="decimal"
        value={row.share}
        onValue={(share) => onRow({ ...row, share })}
      />
      %
    </span>
  );
}

interface DoubtProps {
  readonly row: TargetRow;
  readonly providers: readonly Choice[];
  readonly isPriced: boolean;
}

/** A warning for unknown names; none while the lists load. */
function Doubt({ row, providers, isPriced }: DoubtProps) {
  const isIn = (choices: readonly Choice[], name: string) =>
    name === '' || choices.length === 0 || choices.some(({ value }) => value === name);
  const [provider, model] = [row.provider.trim(), row.model.trim()];
  if (!isIn(providers, provider)) return <span className="text-bad">There is no provider "{provider}".</span>;
  const isSetUp = !providers.some(({ value, note }) => value === provider && note !== undefined);
  const doubts = [
    ...(isSetUp ? [] : ['Not set up: it is skipped.']),
    ...(model === '' || isPriced ? [] : ['No price: where a cap applies, it is skipped. Check the spelling.']),
  ];
  return <span className="text-warn">{doubts.join(' ')}</span>;
}

interface MoveProps extends Pick<RowProps, 'onMove'> {
  readonly place: number;
  readonly by: 1 | -1;
  readonly isLast: boolean;
}

const MoveButton = ({ place, by, isLast, onMove }: MoveProps) => (
  <Button
    kind="ghost"
    size="small"
    data-control={by < 0 ? 'up' : 'down'}
    title={`Alt+${by < 0 ? '↑' : '↓'}`}
    aria-label={`Move target ${place} ${by < 0 ? 'up' : 'down'}`}
    disabled={isLast}
    onClick={() => onMove(by)}
  >
    {by < 0 ? <Up /> : <Down />}
  </Button>
);

function Sum({
  rows,
  onRows,
}: {
  readonly rows: readonly TargetRow[];
  readonly onRows: (rows: readonly TargetRow[]) => void;
}) {
  const sum = sumOfShares(rows);
  const isRight = sum !== null && Math.abs(sum - 100) <= rows.length / 100;
  return (
    <span className="ml-auto flex flex-wrap items-center gap-2 text-xs">
      <span role="status" className={`nums ${isRight ? 'text-muted' : 'text-warn'}`}>
        {sum === null ? 'Enter every share' : `Total: ${Math.round(sum * 100) / 100} %${isRight ? '' : ', not 100 %'}`}
      </span>
      {!isRight && (
        <Button size="small" onClick={() => onRows(balanced(rows))}>
          Scale to 100 %
        </Button>
      )}
      <Button size="small" onClick={() => onRows(evenly(rows))}>
        Split evenly
      </Button>
    </span>
  );
}
