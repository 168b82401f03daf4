import { type ComponentProps, useState } from 'react';
import { Combobox, labelOf } from './combobox';

interface Props extends Omit<ComponentProps<typeof Combobox>, 'onChoose' | 'onClose' | 'selected' | 'takesFirst'> {
  /** Where the choices are searched for elsewhere: what is typed, and nothing once it is over. */
  readonly onSearch?: (typed: string) => void;
}

/** One of the list and nothing else: what is typed only searches, and is gone when one leaves. */
export function ChosenCombobox({ value, choices, onValue, onSearch, ...rest }: Props) {
  const [typed, setTyped] = useState<string | null>(null);
  const search = (text: string | null) => {
    setTyped(text);
    onSearch?.(text ?? '');
  };
  const current = choices.find((choice) => choice.value === value);
  return (
    <Combobox
      {...rest}
      choices={choices}
      value={typed ?? (current === undefined ? value : labelOf(current))}
      selected={value}
      takesFirst
      isSearched={onSearch !== undefined}
      onValue={search}
      onChoose={onValue}
      onClose={() => search(null)}
    />
  );
}
