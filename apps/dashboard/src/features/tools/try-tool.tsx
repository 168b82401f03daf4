import { useState } from 'react';
import { useChange } from '../../api/change';
import { useMayChange } from '../../api/session';
import { callTool, type McpTool, type ToolSender } from '../../api/tools';
import { Button } from '../../ui/button';
import { Failure } from '../../ui/error-state';
import { Field, Form, Select, TextArea, TextField } from '../../ui/form';
import { KeyPicker } from './key-picker';
import { OutcomeView } from './outcome-view';
import { type ArgField, argFields, readArgs } from './prepare-tools';

interface Props {
  readonly scope: string;
  readonly tool: McpTool;
}

/** A form from the tool's schema; it makes an ordinary call. */
export function TryTool({ scope, tool }: Props) {
  const mayChange = useMayChange();
  const [sender, setSender] = useState<ToolSender>({ projectId: '', keyId: '' });
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const call = useChange({
    run: async () => callTool({ sender, scope, name: tool.name, args: readArgs(tool.input_schema, typed) }),
    affects: [['tool-calls'], ['stats', 'tools']],
  });
  const set = (name: string) => (value: string) => setTyped((before) => ({ ...before, [name]: value }));
  if (!mayChange) return null;
  return (
    <details className="rounded-md border">
      <summary className="cursor-pointer px-3 py-2 text-xs font-medium">Try it</summary>
      <Form onSubmit={() => call.mutate(undefined)} className="grid gap-3 border-t px-3 py-3 *:min-w-0">
        <KeyPicker sender={sender} onChange={setSender} />
        {argFields(tool.input_schema).map((field) => (
          <ArgInput key={field.name} field={field} value={typed[field.name] ?? ''} onValue={set(field.name)} />
        ))}
        <div className="flex justify-end">
          <Button type="submit" kind="primary" disabled={call.isPending || sender.keyId === ''}>
            {call.isPending ? 'Calling…' : 'Call tool'}
          </Button>
        </div>
        <Failure of={call} />
        {call.data !== undefined && <OutcomeView outcome={call.data} />}
      </Form>
    </details>
  );
}

interface ArgProps {
  readonly field: ArgField;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

function ArgInput({ field, value, onValue }: ArgProps) {
  const { name, kind, choices, isRequired, hint } = field;
  const shared = { label: isRequired ? name : `${name} (optional)`, hint: hint === '' ? undefined : hint };
  if (kind === 'json') {
    return (
      <TextArea {...shared} rows={3} className="font-mono text-xs" placeholder="JSON" value={value} onValue={onValue} />
    );
  }
  if (kind === 'choice') {
    return (
      <Field {...shared}>
        {(wiring) => <Select {...wiring} anyLabel="not set" options={choices} value={value} onValue={onValue} />}
      </Field>
    );
  }
  return <TextField {...shared} inputMode={kind === 'number' ? 'decimal' : 'text'} value={value} onValue={onValue} />;
}
