import { type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, useId } from 'react';
import { Chevron } from './icons';

const CONTROL =
  'h-8 w-full min-w-0 rounded-md border border-line-strong bg-panel px-2.5 text-sm placeholder:text-faint disabled:opacity-60';

interface LabelProps {
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

/** A label, its control, and beneath what it means or what is wrong with it. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
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

export function Input({ className = '', ...rest }: InputHTMLAttributes<HTMLInputElement>) {
  return <input className={`${CONTROL} ${className}`} {...rest} />;
}

export function TextField({ label, hint, error, ...rest }: LabelProps & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(wiring) => <Input {...wiring} {...rest} />}
    </Field>
  );
}

export function Select({ className = '', children, ...rest }: SelectHTMLAttributes<HTMLSelectElement>) {
  return (
    <span className={`relative inline-block min-w-0 ${className}`}>
      <select className={`${CONTROL} appearance-none truncate pr-7`} {...rest}>
        {children}
      </select>
      <Chevron className="pointer-events-none absolute top-2 right-2 text-faint" />
    </span>
  );
}

export function SelectField({
  label,
  hint,
  error,
  children,
  ...rest
}: LabelProps & SelectHTMLAttributes<HTMLSelectElement>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(wiring) => (
        <Select className="w-full" {...wiring} {...rest}>
          {children}
        </Select>
      )}
    </Field>
  );
}

interface CheckProps extends InputHTMLAttributes<HTMLInputElement> {
  readonly label: string;
  readonly hint?: string;
}

export function CheckField({ label, hint, ...rest }: CheckProps) {
  return (
    <label className="flex items-start gap-2">
      <input type="checkbox" className="mt-0.5 size-4 accent-(--c-accent)" {...rest} />
      <span>
        {label}
        {hint !== undefined && <span className="block text-xs text-muted">{hint}</span>}
      </span>
    </label>
  );
}
