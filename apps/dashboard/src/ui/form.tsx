import {
  createContext,
  type FormEvent,
  type InputHTMLAttributes,
  type ReactNode,
  type Ref,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useContext,
  useId,
  useState,
} from 'react';
import { Chevron } from './icons';

const CONTROL =
  'h-8 w-full min-w-0 rounded-md max-md:h-10 border border-line-strong bg-panel px-2.5 text-sm placeholder:text-faint disabled:opacity-60';

export interface LabelProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | null;
}

interface FieldProps extends LabelProps {
  readonly children: (props: {
    id: string;
    'aria-describedby': string | undefined;
    'aria-invalid': boolean;
  }) => ReactNode;
}

/** Ids of controls → what is wrong with their input, once the form was sent. */
type Faults = ReadonlyMap<string, string>;
const NO_FAULTS: Faults = new Map();
const FaultsContext = createContext(NO_FAULTS);

/** A unit, as in `Latency, ms`, is no part of the name. */
const UNIT = /, [^,]+$/;

/** A label, its control, and a hint or an error below. */
export function Field({ label, hint, error: given, children }: FieldProps) {
  const id = useId();
  const fault = useContext(FaultsContext).get(id);
  const error = fault === undefined ? given : `${label.replace(UNIT, '')} ${fault}.`;
  const note = error ?? hint;
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="mb-1 block text-xs font-medium text-muted">
        {label}
      </label>
      {children({ id, 'aria-describedby': note ? `${id}-note` : undefined, 'aria-invalid': Boolean(error) })}
      {note && (
        <p id={`${id}-note`} className={`mt-1 text-xs ${error ? 'text-bad' : 'text-muted'}`}>
          {note}
        </p>
      )}
    </div>
  );
}

interface ValueProps {
  /** Receives the new value. */
  readonly onValue?: (value: string) => void;
}

type InputProps = ValueProps & InputHTMLAttributes<HTMLInputElement> & { readonly ref?: Ref<HTMLInputElement> };

export function Input({ className = '', onValue, ...rest }: InputProps) {
  return <input className={`${CONTROL} ${className}`} onChange={(event) => onValue?.(event.target.value)} {...rest} />;
}

interface SearchProps extends InputProps {
  readonly label: string;
}

/** Shows its label inside by default. */
export const SearchInput = ({ label, ...rest }: SearchProps) => (
  <Input type="search" aria-label={label} placeholder={label} {...rest} />
);

export function TextField({ label, hint, error, ...rest }: LabelProps & InputProps) {
  return <Field {...{ label, hint, error }}>{(wiring) => <Input {...wiring} {...rest} />}</Field>;
}

type TextAreaProps = LabelProps & ValueProps & TextareaHTMLAttributes<HTMLTextAreaElement>;

export function TextArea({ label, hint, error, className = 'text-sm', onValue, ...rest }: TextAreaProps) {
  return (
    <Field {...{ label, hint, error }}>
      {(wiring) => (
        <textarea
          {...wiring}
          {...rest}
          onChange={(event) => onValue?.(event.target.value)}
          className={`w-full resize-y rounded-md border border-line-strong bg-panel px-2.5 py-1.5 ${className}`}
        />
      )}
    </Field>
  );
}

/** Value → label in this order, plain values, or pairs in their own order. */
export type Options = Readonly<Record<string, string>> | Iterable<string | Pair>;
type Pair = readonly [value: string, label: string];

interface SelectProps extends ValueProps, SelectHTMLAttributes<HTMLSelectElement> {
  /** Label of no choice. */
  readonly anyLabel?: string;
  readonly options: Options;
}

export function Select({ className = '', anyLabel, options, onValue, ...rest }: SelectProps) {
  return (
    <span className={`relative inline-block min-w-0 ${className}`}>
      <select
        className={`${CONTROL} appearance-none truncate pr-7`}
        onChange={(event) => onValue?.(event.target.value)}
        {...rest}
      >
        {anyLabel !== undefined && <option value="">{anyLabel}</option>}
        {pairsOf(options).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <Chevron className="pointer-events-none absolute top-1/2 right-2 -translate-y-1/2 text-faint" />
    </span>
  );
}

function pairsOf(options: Options): readonly Pair[] {
  if (!(Symbol.iterator in options)) return Object.entries(options);
  return Array.from(options, (option) => (typeof option === 'string' ? [option, option] : option));
}

export function SelectField({ label, hint, error, ...rest }: LabelProps & SelectProps) {
  return <Field {...{ label, hint, error }}>{(wiring) => <Select className="w-full" {...wiring} {...rest} />}</Field>;
}

interface TickProps {
  readonly label: string;
  readonly isTicked: boolean;
  readonly onTick: () => void;
}

/** A box without visible text. */
export const Tick = ({ label, isTicked, onTick }: TickProps) => (
  <input
    type="checkbox"
    aria-label={label}
    className="block size-4 accent-(--c-accent)"
    checked={isTicked}
    onChange={onTick}
  />
);

interface CheckProps {
  readonly label: string;
  readonly hint?: string;
  readonly checked: boolean;
  readonly onValue: (isChecked: boolean) => void;
}

export function CheckField({ label, hint, checked, onValue }: CheckProps) {
  return (
    <label className="flex min-h-6 items-start gap-2">
      <input
        type="checkbox"
        className="mt-0.5 size-4 accent-(--c-accent)"
        checked={checked}
        onChange={(event) => onValue(event.target.checked)}
      />
      <span>
        {label}
        {hint !== undefined && <span className="block text-xs text-muted">{hint}</span>}
      </span>
    </label>
  );
}

interface FormProps {
  readonly className?: string;
  readonly onSubmit: () => void;
  readonly children: ReactNode;
}

/** A form that does not leave its page. Its fields say what is wrong with them; the browser's bubbles don't show. */
export function Form({ className = 'grid gap-3', onSubmit, children }: FormProps) {
  const [faults, setFaults] = useState(NO_FAULTS);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const found = findFaults(form);
    setFaults(found);
    if (found.size === 0) {
      delete form.dataset.changed;
      onSubmit();
    }
    requestAnimationFrame(() => form.querySelector<HTMLElement>('[aria-invalid=true]')?.focus());
  };
  const note = ({ target, currentTarget }: FormEvent<HTMLFormElement>) => {
    // A dialog asks before it drops what was typed. Dialogs within a form are elsewhere in the document.
    if (target instanceof Node && currentTarget.contains(target)) currentTarget.dataset.changed = '';
    if (target instanceof HTMLElement && faults.has(target.id))
      setFaults(new Map([...faults].filter(([id]) => id !== target.id)));
  };
  return (
    <form className={className} noValidate onSubmit={submit} onInput={note}>
      <FaultsContext value={faults}>{children}</FaultsContext>
    </form>
  );
}

type Control = Pick<HTMLInputElement, 'validity' | 'inputMode'>;

/** What is wrong with the input of a control, after its label; null if nothing is. */
export function faultOf({ validity, inputMode }: Control): string | null {
  if (validity.valid) return null;
  if (validity.valueMissing) return 'is required';
  if (validity.badInput) return 'is incomplete';
  return inputMode === 'decimal' ? 'must be a number' : 'has another format';
}

function findFaults(form: HTMLFormElement): Faults {
  const faults = new Map<string, string>();
  for (const control of form.querySelectorAll<HTMLInputElement>('input, select, textarea')) {
    const fault = control.willValidate ? faultOf(control) : null;
    if (fault !== null) faults.set(control.id, fault);
  }
  return faults;
}
