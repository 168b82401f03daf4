import { type ReactNode, useState } from 'react';
import { ApiError } from '../../api/client';
import { ChangedMeanwhile } from '../../api/save-changes';
import { useMayChange } from '../../api/session';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { ErrorState } from '../../ui/error-state';
import { Form } from '../../ui/form';
import { ConflictNote } from './conflict-note';
import {
  changedFields,
  describeFault,
  FieldError,
  type FieldSpec,
  type FormValues,
  fillForm,
  readForm,
} from './prepare-form';
import { SpecFields } from './spec-fields';

/** Changed resource. */
export interface Edit {
  readonly opened: object;
  readonly changes: Record<string, unknown>;
}

type Specs = readonly FieldSpec[] | ((values: FormValues) => readonly FieldSpec[]);

const specsFor = (specs: Specs, values: FormValues) => (typeof specs === 'function' ? specs(values) : specs);

interface SpecFormProps {
  /** Fixed, or a function of the form's values. */
  readonly specs: Specs;
  /** Current version; null for a new object. */
  readonly resource: object | null;
  readonly submitLabel: string;
  /** Headers of the request. */
  readonly change: { readonly isPending: boolean; readonly error: Error | null };
  /** Error of the form's other buttons. */
  readonly otherError?: Error | null;
  /** Receives all values; `changes` holds those that differ from `opened`. */
  readonly onSubmit: (body: Record<string, unknown>, edit: Edit) => void;
  readonly children?: ReactNode;
  /** Content between fields and buttons, from the values. */
  readonly below?: (values: FormValues) => ReactNode;
  /** Picture of the values: beside the fields where there is room, else below them. */
  readonly beside?: (values: FormValues) => ReactNode;
  readonly disabled?: boolean;
}

/** A form from field descriptions. Shows API errors at their fields and keeps the input. */
export function SpecForm(props: SpecFormProps) {
  const { change } = props;
  const [values, setValues] = useState<FormValues>(() => {
    const given = toValues(props.resource);
    return { ...given, ...fillForm(specsFor(props.specs, given), props.resource) };
  });
  const specs = specsFor(props.specs, values);
  const [opened, setOpened] = useState<object>(() => props.resource ?? {});
  const [wrong, setWrong] = useState<FieldError | null>(null);
  const disabled = !useMayChange() || props.disabled === true;
  const refusal = change.error ?? props.otherError ?? null;
  /** What was refused, once somebody changed its field. */
  const [mended, setMended] = useState<Error | null>(null);
  const error = refusal === mended ? null : refusal;
  const submit = () => {
    try {
      const body = readForm(specs, values);
      setWrong(null);
      props.onSubmit(body, { opened, changes: changedFields(specs, opened, body) });
    } catch (cause) {
      if (!(cause instanceof FieldError)) throw cause;
      setWrong(cause);
    }
  };
  const errorOf = (name: string) => {
    const message = wrong?.field === name ? wrong.message : refusalAt(name, error, specs);
    return message && describeFault(specs.find((spec) => spec.name === name)?.label ?? '', message);
  };
  const onValue = (spec: FieldSpec, value: string | boolean) => {
    const changed = { ...spec.resets?.(String(value)), [spec.name]: value };
    if (wrong !== null && wrong.field in changed) setWrong(null);
    if ((fieldOf(error) ?? '') in changed) setMended(error);
    setValues((before) => ({ ...before, ...changed }));
  };
  return (
    <Form onSubmit={submit}>
      <Beside picture={props.beside?.(values)}>
        <SpecFields {...{ specs, values, errorOf, disabled, onValue }} />
      </Beside>
      <FormError
        {...{ error, specs, opened }}
        onTake={(current, theirs) => {
          setOpened(current);
          if (theirs) setValues((mine) => ({ ...mine, ...theirs }));
        }}
      />
      {props.below?.(values)}
      <div className="flex flex-wrap items-center justify-end gap-2">
        {props.children}
        <Button type="submit" kind="primary" disabled={change.isPending || disabled}>
          {props.submitLabel}
        </Button>
      </div>
    </Form>
  );
}

interface BesideProps {
  readonly picture: ReactNode;
  readonly children: ReactNode;
}

/** Fields, and a picture of them. */
function Beside({ picture, children }: BesideProps) {
  if (picture === undefined) return children;
  return (
    <div className="grid gap-x-6 gap-y-4 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <div className="grid content-start gap-3">{children}</div>
      {picture}
    </div>
  );
}

/** API error of a field. */
function refusalAt(name: string, error: Error | null, specs: readonly FieldSpec[]): string | null {
  if (error === null || fieldOf(error) !== name) return null;
  return inLabels(error.message.replace(/^[\w.]+: /, ''), specs);
}

/** The field at fault. */
const fieldOf = (error: Error | null) => (error instanceof ApiError ? (error.param?.split('.')[0] ?? null) : null);

interface FormErrorProps {
  readonly error: Error | null;
  readonly specs: readonly FieldSpec[];
  readonly opened: object;
  /** Current version, and the fields that the form takes over. */
  readonly onTake: (current: object, theirs?: FormValues) => void;
}

/** Shows the error below all fields. A conflict shows both versions. */
function FormError({ error, specs, opened, onTake }: FormErrorProps) {
  if (error instanceof ChangedMeanwhile) {
    if (error.current === opened) return null;
    return <ConflictNote {...{ specs, conflict: error }} onTake={(theirs) => onTake(error.current, theirs)} />;
  }
  if (error === null || specs.some(({ name }) => name === fieldOf(error))) return null;
  return <ErrorState error={new Error(inLabels(error.message, specs))} />;
}

/** API errors by form field. */
const inLabels = (message: string, specs: readonly FieldSpec[]) =>
  specs.reduce((text, { name, label }) => text.replaceAll(`${name}: `, `${label}: `), message);

/** Descriptions of a resource's fields, for its form. */
const toValues = (resource: object | null): FormValues =>
  Object.fromEntries(Object.entries(resource ?? {}).map(([name, value]) => [name, String(value ?? '')]));

interface SpecDialogProps extends SpecFormProps {
  readonly title: string;
  readonly description?: string;
  readonly open?: boolean;
  readonly onClose: () => void;
}

/** One resource, to be made or changed. */
export function SpecDialog({ title, description, open, onClose, ...form }: SpecDialogProps) {
  return (
    <Dialog {...{ title, description, open, onClose }} kind={form.beside === undefined ? 'dialog' : 'broad'}>
      <SpecForm {...form} />
    </Dialog>
  );
}
