import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Failure } from '../../ui/error-state';
import { Form, TextArea, TextField } from '../../ui/form';
import { readTargets, type TypedTarget } from './prepare-routing';

interface Props {
  readonly title: string;
  readonly description: string;
  /** null: to be given. */
  readonly name: string | null;
  readonly nameLabel: string;
  /** As they are typed. */
  readonly targets: string;
  readonly hint?: string;
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly onSubmit: (name: string, targets: TypedTarget[]) => void;
  readonly onClose: () => void;
  readonly fields?: ReactNode;
  readonly children?: ReactNode;
}

/** A name and its targets, one `provider/model` a line. */
export function TargetsDialog(props: Props) {
  const [name, setName] = useState(props.name ?? '');
  const [targets, setTargets] = useState(props.targets);
  const [wrong, setWrong] = useState<string | null>(null);
  const submit = () => {
    try {
      const read = readTargets(targets);
      setWrong(null);
      props.onSubmit(name.trim(), read);
    } catch (error) {
      setWrong(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Dialog title={props.title} description={props.description} onClose={props.onClose}>
      <Form onSubmit={submit}>
        {props.name === null && <TextField label={props.nameLabel} required value={name} onValue={setName} />}
        <TextArea
          label="Targets"
          hint={props.hint ?? 'One provider/model a line, first choice first'}
          error={wrong}
          rows={6}
          required
          spellCheck={false}
          className="font-mono text-xs"
          value={targets}
          onValue={setTargets}
        />
        {props.fields}
        <Failure of={{ error: props.error }} />
        <div className="flex justify-end gap-2">
          {props.children}
          <Button type="submit" kind="primary" disabled={props.isPending}>
            Save
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
