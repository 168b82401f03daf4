import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from '../../ui/button';
import { ErrorState } from '../../ui/error-state';
import { Field, TextField } from '../../ui/field';
import { readTargets } from './prepare-routing';

interface Props {
  /** null: to be given. */
  readonly name: string | null;
  readonly nameLabel: string;
  readonly targets: string;
  readonly hint?: string;
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly onSubmit: (values: { name: string; targets: string }) => void;
  readonly fields?: ReactNode;
  readonly children?: ReactNode;
}

/** A name and its targets, one `provider/model` a line. */
export function TargetsForm(props: Props) {
  const [name, setName] = useState(props.name ?? '');
  const [targets, setTargets] = useState(props.targets);
  const [wrong, setWrong] = useState<string | null>(null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    try {
      readTargets(targets);
      setWrong(null);
      props.onSubmit({ name: name.trim(), targets });
    } catch (error) {
      setWrong(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <form className="grid gap-3" onSubmit={submit}>
      {props.name === null && (
        <TextField label={props.nameLabel} required value={name} onChange={(event) => setName(event.target.value)} />
      )}
      <Field label="Targets" hint={props.hint ?? 'One provider/model a line, first choice first'} error={wrong}>
        {(wiring) => (
          <textarea
            {...wiring}
            rows={6}
            required
            spellCheck={false}
            value={targets}
            onChange={(event) => setTargets(event.target.value)}
            className="w-full resize-y rounded-md border border-line-strong bg-panel px-2.5 py-1.5 font-mono text-xs"
          />
        )}
      </Field>
      {props.fields}
      {props.error && <ErrorState error={props.error} />}
      <div className="flex justify-end gap-2">
        {props.children}
        <Button type="submit" kind="primary" disabled={props.isPending}>
          Save
        </Button>
      </div>
    </form>
  );
}
