import { type KeyboardEvent, useId, useState } from 'react';
import { useSuggestions } from '../../api/logs';
import { outcomeLabel } from '../../format/outcome-labels';
import { Input } from '../../ui/form';
import { Check } from '../../ui/icons';
import { useSettled } from '../../ui/use-settled';
import { type FieldName, fieldOf, readTyped, suggestionField } from './prepare-filters';

interface Props {
  readonly field: FieldName;
  readonly values: readonly string[];
  readonly projectId: string | undefined;
  readonly onToggle: (value: string) => void;
}

interface Option {
  /** Chosen value; undefined for an entry that opens a list of values. */
  readonly value?: string;
  readonly label: string;
  /** Resulting field value. */
  readonly typed?: string;
}

/** A text field with suggestions from the gateway: arrows, Enter or free text. */
export function ValuePicker({ field, values, projectId, onToggle }: Props) {
  const id = useId();
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(-1);
  const [isWrong, setIsWrong] = useState(false);
  const { options, isLoading } = useOptions(field, typed, projectId);
  const { label, placeholder } = fieldOf(field);
  const choose = (option: Option | undefined) => {
    if (option?.typed !== undefined) setTyped(option.typed);
    const value = option === undefined ? readTyped(field, typed) : option.value;
    setIsWrong(option === undefined && value === undefined && typed.trim() !== '');
    if (value === undefined) return;
    onToggle(value);
    if (option?.typed === undefined) setTyped('');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt((before) => Math.max(-1, Math.min(options.length - 1, before + step)));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      choose(options[at]);
    }
  };
  const isOpen = options.length > 0;
  return (
    <div className="grid gap-1.5">
      <Input
        autoFocus
        role="combobox"
        aria-label={`${label}: value`}
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-invalid={isWrong}
        aria-activedescendant={at >= 0 && isOpen ? `${id}-${at}` : undefined}
        placeholder={placeholder}
        value={typed}
        onValue={(value) => {
          setTyped(value);
          setAt(-1);
          setIsWrong(false);
        }}
        onKeyDown={onKeyDown}
      />
      {isWrong && (
        <p className="text-xs text-bad">
          Not a valid {label.toLowerCase()}. Example: {placeholder}
        </p>
      )}
      <OptionList {...{ id, at, label, options, values }} onChoose={choose} />
      {!isOpen && (
        <p className="text-xs text-muted">
          {isLoading ? 'Searching…' : 'No suggestions. Press Enter to use what you typed.'}
        </p>
      )}
    </div>
  );
}

interface ListProps extends Pick<Props, 'values'> {
  readonly id: string;
  /** The one that Enter takes. */
  readonly at: number;
  readonly label: string;
  readonly options: readonly Option[];
  readonly onChoose: (option: Option) => void;
}

function OptionList({ id, at, label, options, values, onChoose }: ListProps) {
  return (
    <div
      id={`${id}-list`}
      role="listbox"
      aria-label={`${label}: suggestions`}
      aria-multiselectable="true"
      className={options.length > 0 ? 'max-h-56 overflow-y-auto rounded-md border' : ''}
    >
      {options.map((option, index) => {
        const isChosen = option.value !== undefined && values.includes(option.value);
        return (
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys are the field's, which has the focus
          <div
            key={option.value ?? option.label}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={isChosen}
            className={`flex cursor-pointer items-center gap-1.5 px-2 py-1 text-xs ${index === at ? 'bg-hover' : 'hover:bg-hover'}`}
            ref={(element) => {
              if (index === at) element?.scrollIntoView({ block: 'nearest' });
            }}
            onClick={() => onChoose(option)}
          >
            <span className="size-4 shrink-0 text-accent">{isChosen && <Check />}</span>
            <span className="truncate" title={option.label}>
              {option.label}
            </span>
          </div>
        );
      })}
    </div>
  );
}

function useOptions(field: FieldName, typed: string, projectId: string | undefined) {
  const { values } = fieldOf(field);
  const settled = useSettled(typed.trim());
  const asked = suggestionField(field, settled);
  const found = useSuggestions(asked, projectId);
  if (values !== undefined) {
    const part = typed.trim().toLowerCase();
    const options = values
      .map((value): Option => ({ value, label: outcomeLabel(value) }))
      .filter(({ value, label }) => `${value} ${label.toLowerCase()}`.includes(part));
    return { options, isLoading: false };
  }
  const rows = asked === null ? [] : (found.data?.data ?? []);
  const options = rows.map(({ value, label }): Option => {
    if (asked?.field === 'label') return { label: `${value}=…`, typed: `${value}=` };
    if (asked?.field.startsWith('label.')) {
      const pair = `${asked.field.slice('label.'.length)}=${value}`;
      return { value: pair, label: pair };
    }
    return { value, label: label ?? value };
  });
  return { options, isLoading: asked !== null && found.isPending };
}
