import { type FormEvent, type ReactNode, useState } from 'react';
import { ApiError } from '../../api/client';
import { Button } from '../../ui/button';
import { ErrorState } from '../../ui/error-state';
import { CheckField, SelectField, TextField } from '../../ui/field';
import { FieldError, type FieldSpec, type FormValues, fillForm, readForm } from './prepare-form';

interface Props {
  readonly specs: readonly FieldSpec[];
  /** What is there now; null for a new one. */
  readonly resource: object | null;
  readonly submitLabel: string;
  readonly isPending: boolean;
  readonly error: Error | null;
  readonly onSubmit: (body: Record<string, unknown>) => void;
  readonly children?: ReactNode;
  readonly disabled?: boolean;
}

/** A form made of field descriptions; what the API refuses is said at the field at fault, and what was typed stays. */
export function SpecForm({ specs, resource, submitLabel, isPending, error, onSubmit, children, disabled }: Props) {
  const [values, setValues] = useState<FormValues>(() => fillForm(specs, resource));
  const [wrong, setWrong] = useState<FieldError | null>(null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    try {
      const body = readForm(specs, values);
      setWrong(null);
      onSubmit(body);
    } catch (cause) {
      if (!(cause instanceof FieldError)) throw cause;
      setWrong(cause);
    }
  };
  const refusedField = error instanceof ApiError ? error.param : null;
  const isShownAtField = specs.some(({ name }) => name === refusedField);
  const errorOf = (name: string) =>
    wrong?.field === name ? wrong.message : refusedField === name && error !== null ? error.message : null;
  const set = (name: string, value: string | boolean) => setValues((before) => ({ ...before, [name]: value }));
  return (
    <form className="grid gap-3" onSubmit={submit}>
      <fieldset className="grid gap-3 sm:grid-cols-2" disabled={disabled}>
        {specs.map(({ name, label, kind, hint, placeholder, options, required }) => {
          const value = values[name];
          if (typeof value === 'boolean') {
            return (
              <div key={name} className="sm:col-span-2">
                <CheckField
                  label={label}
                  hint={hint}
                  checked={value}
                  onChange={(event) => set(name, event.target.checked)}
                />
              </div>
            );
          }
          const shared = { label, hint, error: errorOf(name), value: value ?? '', name, required };
          return options === undefined ? (
            <TextField
              key={name}
              {...shared}
              placeholder={placeholder ?? (required ? undefined : 'none')}
              type={kind === 'instant' ? 'datetime-local' : 'text'}
              inputMode={kind === 'usd' || kind === 'number' ? 'decimal' : kind === 'integer' ? 'numeric' : undefined}
              autoComplete="off"
              onChange={(event) => set(name, event.target.value)}
            />
          ) : (
            <SelectField key={name} {...shared} onChange={(event) => set(name, event.target.value)}>
              {options.map((option) => (
                <option key={option.value} value={option.value}>
                  {option.label}
                </option>
              ))}
            </SelectField>
          );
        })}
      </fieldset>
      {error !== null && !isShownAtField && <ErrorState error={error} />}
      <div className="flex items-center justify-end gap-2">
        {children}
        <Button type="submit" kind="primary" disabled={isPending || disabled}>
          {submitLabel}
        </Button>
      </div>
    </form>
  );
}
