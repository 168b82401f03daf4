import { useState } from 'react';
import { useKeyNames, useKeys, useProjectOptions } from '../../api/projects';
import type { ToolSender } from '../../api/tools';
import { ChosenCombobox } from '../../ui/combobox/chosen-combobox';
import { Field } from '../../ui/form';
import { useSettled } from '../../ui/use-settled';

interface Props {
  readonly sender: ToolSender;
  readonly onChange: (sender: ToolSender) => void;
  readonly hint?: string;
}

/** Key for tool calls: its limits, budget and log apply. */
export function KeyPicker({ sender, onChange, hint = 'The call counts toward its limits and budget' }: Props) {
  const projects = useProjectOptions();
  const [typed, setTyped] = useState('');
  const keys = useKeys(sender.projectId, useSettled(typed), sender.projectId !== '').data?.rows ?? [];
  const nameOf = useKeyNames(sender.keyId === '' ? [] : [sender.keyId]);
  const choices = keys.map(({ id, name, prefix }) => ({ value: id, label: name, note: `${prefix}…` }));
  const isKnown = sender.keyId === '' || choices.some(({ value }) => value === sender.keyId);
  return (
    <div className="grid gap-3 sm:grid-cols-2 *:min-w-0">
      <Field label="Project">
        {(wiring) => (
          <ChosenCombobox
            {...wiring}
            value={sender.projectId}
            choices={projects.map(([value, label]) => ({ value, label }))}
            placeholder="Choose a project"
            emptyNote="No matching project"
            onValue={(projectId) => projectId !== sender.projectId && onChange({ projectId, keyId: '' })}
          />
        )}
      </Field>
      <Field label="Key" hint={hint}>
        {(wiring) => (
          <ChosenCombobox
            {...wiring}
            value={sender.keyId}
            choices={isKnown ? choices : [...choices, { value: sender.keyId, label: nameOf(sender.keyId) }]}
            placeholder="Choose a key"
            emptyNote="No matching key"
            onSearch={setTyped}
            onValue={(keyId) => onChange({ ...sender, keyId })}
          />
        )}
      </Field>
    </div>
  );
}
