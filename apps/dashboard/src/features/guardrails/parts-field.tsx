import { useId } from 'react';
import type { WidgetProps } from '../forms/prepare-form';
import { PARTS } from './prepare-guardrails';
import { chosenParts, partsOf, toggledPart } from './rule-parts';

/** Which parts a rule checks: a box for each that its side has, all of them ticked unless some were chosen. */
export function PartsField({ label, hint, error, value, values, onValue }: WidgetProps) {
  const id = useId();
  const chosen = chosenParts(value, values.on);
  const note = error ?? hint;
  return (
    <fieldset aria-describedby={note ? `${id}-note` : undefined} className="min-w-0">
      <legend className="mb-1 text-xs font-medium text-muted">{label}</legend>
      <div className="flex flex-wrap gap-x-4 gap-y-1">
        {partsOf(values.on).map((part) => (
          <label key={part} className="flex min-h-6 items-center gap-2">
            <input
              type="checkbox"
              className="size-4 accent-(--c-accent)"
              checked={chosen.includes(part)}
              // A rule that checks nothing is none.
              disabled={chosen.length === 1 && chosen.includes(part)}
              onChange={() => onValue(toggledPart(value, values.on, part))}
            />
            {PARTS[part]}
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
