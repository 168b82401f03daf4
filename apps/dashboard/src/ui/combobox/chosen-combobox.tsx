import { type ComponentProps, useState } from 'react';
import { Combobox, labelOf } from './combobox';

interface Props extends Omit<ComponentProps<typeof Combobox>, 'onChoose' | 'onClose' | 'selected' | 'takesFirst'> {
  /** External search: receives the typed text, and an empty one at the end. */
  readonly onSearch?: (typed: string) => void;
}

/** Accepts list entries only: typed text just searches, and leaving the field drops it. */
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
