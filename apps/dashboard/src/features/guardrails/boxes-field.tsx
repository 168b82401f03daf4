import { useId } from 'react';
import type { WidgetProps } from '../forms/prepare-form';
import { chosenOf, toggledIn } from './chosen-boxes';
import { KINDS, PARTS } from './prepare-guardrails';
import { partsOf } from './rule-parts';

interface BoxesProps extends Pick<WidgetProps, 'label' | 'hint' | 'error'> {
  /** Value → label. */
  readonly options: Readonly<Record<string, string>>;
  readonly chosen: readonly string[];
  /** One that cannot be unticked. */
  readonly fixed?: string | undefined;
  readonly onToggle: (value: string) => void;
}

/** A few things, any of which may be ticked. */
function Boxes({ label, hint, error, options, chosen, fixed, onToggle }: BoxesProps) {
  const id = useId();
  const note = error ?? hint;
  return (
    <fieldset aria-describedby={note ? `${id}-note` : undefined} className="min-w-0">
      <legend className="mb-1 text-xs font-medium text-muted">{label}</legend>
      <div className="flex flex-wrap gap-x-4 gap-y-1">
        {Object.entries(options).map(([value, name]) => (
          <label key={value} className="flex min-h-6 items-center gap-2">
            <input
              type="checkbox"
              className="size-4 accent-(--c-accent)"
              checked={chosen.includes(value)}
              disabled={fixed === value}
              onChange={() => onToggle(value)}
            />
            {name}
          </label>
        ))}
      </div>
      {note && (
        <p id={`${id}-note`} className={`mt-1 text-xs ${error ? 'text-bad' : 'text-muted'}`}>
          {note}
        </p>
      )}
    </fieldset>
  );
}

interface AllOrSomeProps {
  readonly given: WidgetProps;
  readonly options: Readonly<Record<string, string>>;
}

/** All of them are ticked unless some were chosen; a rule that checks nothing is none. */
function AllOrSome({ given: { value, onValue, ...given }, options }: AllOrSomeProps) {
  const known = Object.keys(options);
  const chosen = chosenOf(value, known);
  const fixed = chosen.length === 1 ? chosen[0] : undefined;
  return <Boxes {...given} {...{ options, chosen, fixed }} onToggle={(one) => onValue(toggledIn(value, known, one))} />;
}

/** Parts that a rule checks, from its side's parts. */
export function PartsField(given: WidgetProps) {
  const options = Object.fromEntries(partsOf(given.values.on).map((part) => [part, PARTS[part]]));
  return <AllOrSome given={given} options={options} />;
}

/** Kinds of personal data that a rule detects. */
export const KindsField = (given: WidgetProps) => <AllOrSome given={given} options={KINDS} />;

const DECODED = { base64: 'decoded base64' };

/** Extra texts that a rule reads, if enabled. */
export function DecodeField({ value, onValue, ...given }: WidgetProps) {
  const chosen = value === '' ? [] : ['base64'];
  const onToggle = () => onValue(chosen.length === 0 ? 'base64' : '');
  return <Boxes {...given} options={DECODED} chosen={chosen} onToggle={onToggle} />;
}
