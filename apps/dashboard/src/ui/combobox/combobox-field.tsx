import { useState } from 'react';
import { Field, type LabelProps } from '../form';
import { Close } from '../icons';
import { type Choice, Combobox } from './combobox';

interface Props extends LabelProps {
  readonly choices: readonly Choice[];
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly placeholder?: string;
  readonly name?: string;
  readonly required?: boolean;
}

/** One name, from a list or of one's own. */
export const ComboboxField = ({ label, hint, error, required, ...rest }: Props) => (
  <Field {...{ label, hint, error }}>{(wiring) => <Combobox {...wiring} {...rest} aria-required={required} />}</Field>
);

const partsOf = (value: string) =>
  value
    .split(/[\s,]+/)
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Several names; the value has commas between them. */
export function ComboboxListField({ label, hint, error, value, onValue, choices, placeholder, ...rest }: Props) {
  const [typed, setTyped] = useState('');
  const names = partsOf(value);
  const set = (next: readonly string[]) => onValue([...new Set(next)].join(', '));
  const add = (text: string) => {
    set([...names, ...partsOf(text)]);
    setTyped('');
  };
  return (
    <Field {...{ label, hint, error }}>
      {(wiring) => (
        <>
          {names.length > 0 && (
            <ul className="mb-1 flex flex-wrap gap-1" aria-label={label}>
              {names.map((one) => (
                <li
                  key={one}
                  className="inline-flex max-w-full items-center gap-1 rounded bg-hover py-0.5 pr-0.5 pl-2 text-xs"
                >
                  <span className="min-w-0 wrap-anywhere">{one}</span>
                  <button
                    type="button"
                    aria-label={`Remove ${one}`}
                    className="rounded p-0.5 text-muted hover:text-text"
                    onClick={() => set(names.filter((other) => other !== one))}
                  >
                    <Close width="12" height="12" />
                  </button>
                </li>
              ))}
            </ul>
          )}
          <Combobox
            {...wiring}
            {...rest}
            choices={choices.filter((choice) => !names.includes(choice.value))}
            placeholder={names.length === 0 ? placeholder : 'add another'}
            value={typed}
            onValue={(text) => (text.includes(',') ? add(text) : setTyped(text))}
            onChoose={add}
            // Typed text counts even if the user chose no entry.
            onBlurCapture={() => typed.trim() !== '' && add(typed)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && typed.trim() !== '') {
                event.preventDefault();
                add(typed);
              }
              if (event.key === 'Backspace' && typed === '') set(names.slice(0, -1));
            }}
          />
        </>
      )}
    </Field>
  );
}
