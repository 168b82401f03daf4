import { type ComponentProps, useState } from 'react';
import { ChosenCombobox } from '../../ui/combobox/chosen-combobox';
import { Field } from '../../ui/form';
import { useSettled } from '../../ui/use-settled';
import type { WidgetProps } from '../forms/prepare-form';
import { useNameOf, useTeams, useUsers } from './use-teams';

type Props = Omit<ComponentProps<typeof ChosenCombobox>, 'choices' | 'onSearch' | 'emptyNote' | 'placeholder'>;

/** Chooses one of any number of teams. */
export function TeamPicker(props: Props) {
  const [typed, setTyped] = useState('');
  const { data } = useTeams(useSettled(typed));
  const choices = (data?.rows ?? []).map(({ id, name }) => ({ value: id, label: name }));
  const isKnown = props.value === '' || choices.some(({ value }) => value === props.value);
  const name = useNameOf('teams', isKnown ? undefined : props.value);
  return (
    <ChosenCombobox
      {...props}
      choices={isKnown || name === undefined ? choices : [...choices, { value: props.value, label: name }]}
      placeholder="Choose a team"
      emptyNote="No matching team"
      onSearch={setTyped}
    />
  );
}

/** One of any number of users. */
export function UserField({ label, error, value, onValue }: WidgetProps) {
  const [typed, setTyped] = useState('');
  const { data } = useUsers(useSettled(typed));
  const choices = (data?.rows ?? []).map(({ id, name, email }) => ({ value: id, label: name, note: email ?? '' }));
  return (
    <Field {...{ label, error }}>
      {(wiring) => (
        <ChosenCombobox
          {...{ ...wiring, choices, value, onValue }}
          placeholder="Choose a user"
          emptyNote="No matching user. Type the whole e-mail address of somebody outside your teams."
          onSearch={setTyped}
        />
      )}
    </Field>
  );
}
