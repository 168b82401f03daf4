import { Input } from './field';

interface Props {
  readonly label: string;
  /** The label unless given. */
  readonly placeholder?: string;
  readonly className: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

export function SearchInput({ label, placeholder = label, ...rest }: Props) {
  return <Input type="search" aria-label={label} placeholder={placeholder} {...rest} />;
}
