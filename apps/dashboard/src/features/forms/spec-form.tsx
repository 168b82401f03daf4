import { type ReactNode, useState } from 'react';
import { ApiError } from '../../api/client';
import { useMayChange } from '../../api/session';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { ErrorState } from '../../ui/error-state';
import { CheckField, Form, SelectField, TextArea, TextField } from '../../ui/form';
import { FieldError, type FieldKind, type FieldSpec, type FormValues, fillForm, readForm } from './prepare-form';

interface SpecFormProps {
  readonly specs: readonly FieldSpec[];
  /** What is there now; null for a new one. */
  readonly resource: object | null;
  readonly submitLabel: string;
  /** What it is sent with. */
  readonly change: { readonly isPending: boolean; readonly error: Error | null };
  /** Of the form's other buttons. */
  readonly otherError?: Error | null;
  readonly onSubmit: (body: Record<string, unknown>) => void;
  readonly children?: ReactNode;
  readonly disabled?: boolean;
}

/** A form made of field descriptions; what the API refuses is said at the field at fault, and what was typed stays. */
export function SpecForm(props: SpecFormProps) {
  const { specs, change } = props;
  const [values, setValues] = useState<FormValues>(() => fillForm(specs, props.resource));
  const [wrong, setWrong] = useState<FieldError | null>(null);
  const mayChange = useMayChange();
  const disabled = !mayChange || props.disabled;
  const error = change.error ?? props.otherError ?? null;
  const submit = () => {
    try {
      const body = readForm(specs, values);
      setWrong(null);
      props.onSubmit(body);
    } catch (cause) {
      if (!(cause instanceof FieldError)) throw cause;
      setWrong(cause);
    }
  };
  const refusedField = error instanceof ApiError ? error.param : null;
  const isShownAtField = specs.some(({ name }) => name === refusedField);
  const errorOf = (name: string) =>
    wrong?.field === name ? wrong.message : refusedField === name && error !== null ? error.message : null;
  return (
    <Form onSubmit={submit}>
      <fieldset className="grid gap-3 sm:grid-cols-2" disabled={disabled}>
        {specs.map((spec) => (
          <SpecField
            key={spec.name}
            spec={spec}
            value={values[spec.name] ?? ''}
            error={errorOf(spec.name)}
            onValue={(value) => setValues((before) => ({ ...before, [spec.name]: value }))}
          />
        ))}
      </fieldset>
      {error !== null && !isShownAtField && <ErrorState error={error} />}
      <div className="flex items-center justify-end gap-2">
        {props.children}
        <Button type="submit" kind="primary" disabled={change.isPending || disabled}>
          {props.submitLabel}
        </Button>
      </div>
    </Form>
  );
}

interface SpecFieldProps {
  readonly spec: FieldSpec;
  readonly value: string | boolean;
  readonly error: string | null;
  readonly onValue: (value: string | boolean) => void;
}

const INPUT_MODES: Partial<Record<FieldKind, 'decimal' | 'numeric'>> = {
  usd: 'decimal',
  number: 'decimal',
  integer: 'numeric',
};

function SpecField({ spec, value, error, onValue }: SpecFieldProps) {
  const { name, label, kind, hint, placeholder, options, rows, required } = spec;
  if (typeof value === 'boolean') {
    return (
      <div className="sm:col-span-2">
        <CheckField label={label} hint={hint} checked={value} onValue={onValue} />
      </div>
    );
  }
  const shared = { label, hint, error, value, name, required, onValue };
  if (rows !== undefined) {
    return (
      <div className="sm:col-span-2">
        <TextArea {...shared} rows={rows} spellCheck={false} className="font-mono text-xs" />
      </div>
    );
  }
  if (options !== undefined) return <SelectField {...shared} options={options} />;
  return (
    <TextField
      {...shared}
      placeholder={placeholder ?? (required ? undefined : 'none')}
      type={kind === 'instant' ? 'datetime-local' : 'text'}
      inputMode={INPUT_MODES[kind]}
      autoComplete="off"
    />
  );
}

interface SpecDialogProps extends SpecFormProps {
  readonly title: string;
  readonly description?: string;
  readonly open?: boolean;
  readonly onClose: () => void;
}

/** One resource, to be made or changed. */
export function SpecDialog({ title, description, open, onClose, ...form }: SpecDialogProps) {
  return (
    <Dialog title={title} description={description} open={open} onClose={onClose}>
      <SpecForm {...form} />
    </Dialog>
  );
}
