// The ARIA combobox pattern, editable with a list: https://www.w3.org/WAI/ARIA/apg/patterns/combobox/
import { type InputHTMLAttributes, useEffect, useId, useRef, useState } from 'react';
import { Input } from '../form';
import { Chevron } from '../icons';
import { movedBy, takenBy } from './move-active';
import { rank } from './rank';
import { usePlacedBelow } from './use-placed-below';

export interface Choice {
  readonly value: string;
  /** Name, if the value isn't one. */
  readonly label?: string;
  /** Small text beside the name. */
  readonly note?: string;
}

interface Props extends Omit<InputHTMLAttributes<HTMLInputElement>, 'value' | 'list'> {
  readonly choices: readonly Choice[];
  readonly value: string;
  readonly onValue: (value: string) => void;
  /** A choice was made, by click or Enter; unless given, it is the value. */
  readonly onChoose?: (value: string) => void;
  readonly onClose?: () => void;
  /** The value of the choice that is in force, where the text is not it. */
  readonly selected?: string;
  /** Enter selects the first match; otherwise only an entry reached by arrows. */
  readonly takesFirst?: boolean;
  /** The choices are results of an external search. */
  readonly isSearched?: boolean;
  /** Text without matches; if absent, the list stays closed. */
  readonly emptyNote?: string;
}

export const labelOf = ({ value, label = value }: Choice): string => label;

type ListProps = Pick<Props, 'choices' | 'value' | 'onValue' | 'onChoose' | 'onClose'> &
  Pick<Props, 'selected' | 'takesFirst' | 'isSearched' | 'emptyNote'>;

/** More are found by typing on. */
const MAX_SHOWN = 50;

/** Filters the list by the typed text and tracks the active entry. */
function useList({ choices, value, onValue, onChoose = onValue, onClose, ...how }: ListProps) {
  const { selected = value, takesFirst = false, isSearched = false, emptyNote } = how;
  const [isOpen, setIsOpen] = useState(false);
  const [isTyping, setIsTyping] = useState(false);
  const [active, setActive] = useState(-1);
  const typed = isTyping && !isSearched ? value : '';
  const named = rank(choices, typed, labelOf);
  const found = named.length > 0 ? named : rank(choices, typed, ({ note = '' }) => note);
  const shown = found.slice(0, MAX_SHOWN);
  const isShown = isOpen && (shown.length > 0 || emptyNote !== undefined);
  const open = () => {
    setIsOpen(true);
    setIsTyping(false);
    setActive(choices.slice(0, MAX_SHOWN).findIndex((choice) => choice.value === selected));
  };
  const close = () => {
    setIsOpen(false);
    setIsTyping(false);
    setActive(-1);
    onClose?.();
  };
  const choose = (choice: Choice) => {
    onChoose(choice.value);
    close();
  };
  const type = (text: string) => {
    onValue(text);
    setIsOpen(true);
    setIsTyping(true);
    setActive(-1);
  };
  const move = (by: 1 | -1) => {
    if (!isOpen) return open();
    if (shown.length === 0) return;
    setActive((at) => movedBy(at, by, shown.length));
  };
  /** Handles a key; true if the list used it. */
  const press = (key: string): boolean => {
    const choice = isShown ? shown[takenBy(active, takesFirst && isTyping)] : undefined;
    if (key === 'ArrowDown' || key === 'ArrowUp') move(key === 'ArrowDown' ? 1 : -1);
    else if (key === 'Enter' && choice !== undefined) choose(choice);
    else if (key === 'Escape' && isShown) close();
    else return false;
    return true;
  };
  const more = found.length - shown.length;
  /** Part of a name, which Enter must not send as it is. */
  const isPart = isShown && isTyping && named.length > 0 && !choices.some((choice) => choice.value === value);
  return { shown, more, selected, isShown, isOpen, isPart, active, open, close, choose, type, press };
}

/** A text field with suggestions: accepts any text, and matches parts of entries. */
export function Combobox(props: Props) {
  const { choices, onValue, onChoose, onClose, selected: _, takesFirst, isSearched, emptyNote, ...rest } = props;
  const { value, onKeyDown, className = '', ...input } = rest;
  const listId = useId();
  const field = useRef<HTMLInputElement>(null);
  const { shown, more, selected, isShown, isOpen, active, ...list } = useList(props);
  const box = usePlacedBelow<HTMLDivElement>(field, isShown);
  useEffect(() => {
    if (active >= 0) box.current?.querySelectorAll('[role=option]')[active]?.scrollIntoView({ block: 'nearest' });
  }, [active, box]);
  return (
    <>
      <span className={`relative block min-w-0 ${className}`}>
        <Input
          {...input}
          ref={field}
          className="truncate pr-7"
          role="combobox"
          aria-autocomplete="list"
          aria-expanded={isShown}
          aria-controls={listId}
          aria-activedescendant={isShown && active >= 0 && active < shown.length ? `${listId}-${active}` : undefined}
          autoComplete="off"
          spellCheck={false}
          value={value}
          onValue={list.type}
          onClick={() => !isOpen && list.open()}
          // Once another has the focus: a dialog that loses nodes while nobody has it takes it.
          onBlur={() => setTimeout(list.close)}
          onKeyDown={(event) => {
            const isPlain = !event.metaKey && !event.ctrlKey;
            if (isPlain && list.press(event.key)) event.preventDefault();
            else if (onKeyDown !== undefined) onKeyDown(event);
            else if (event.key === 'Enter' && list.isPart) {
              event.preventDefault();
              list.close();
            }
          }}
        />
        <Chevron className="pointer-events-none absolute top-1/2 right-2 -translate-y-1/2 text-faint" />
      </span>
      {/* The field keeps focus while the user scrolls the list. */}
      <div
        ref={box}
        id={listId}
        role="listbox"
        tabIndex={-1}
        aria-label="Suggestions"
        popover="manual"
        className="fixed m-0 overflow-y-auto rounded-md border bg-panel p-1 text-sm text-text shadow-lg"
        onMouseDown={(event) => event.preventDefault()}
      >
        {isShown && <Options {...{ listId, shown, more, selected, active, emptyNote }} onChoose={list.choose} />}
      </div>
    </>
  );
}

interface OptionsProps {
  readonly listId: string;
  readonly shown: readonly Choice[];
  readonly more: number;
  readonly selected: string;
  readonly active: number;
  readonly emptyNote: string | undefined;
  readonly onChoose: (choice: Choice) => void;
}

/** Results, a hint to more, or an empty state. */
function Options({ listId, shown, more, selected, active, emptyNote, onChoose }: OptionsProps) {
  if (shown.length === 0) {
    return (
      <div role="option" tabIndex={-1} aria-selected={false} aria-disabled className="px-2 py-1 text-muted">
        {emptyNote}
      </div>
    );
  }
  return (
    <>
      {shown.map((choice, index) => (
        <Option
          key={choice.value}
          {...{ choice, id: `${listId}-${index}`, isActive: index === active }}
          isSelected={choice.value === selected}
          onChoose={() => onChoose(choice)}
        />
      ))}
      {more > 0 && (
        <div role="presentation" className="px-2 py-1 text-xs text-muted">
          {more} more: keep typing to narrow them down
        </div>
      )}
    </>
  );
}

interface OptionProps {
  readonly choice: Choice;
  readonly id: string;
  readonly isActive: boolean;
  readonly isSelected: boolean;
  readonly onChoose: () => void;
}

function Option({ choice, id, isActive, isSelected, onChoose }: OptionProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: its keys are those of the field, which keeps the focus
    // biome-ignore lint/a11y/useFocusableInteractive: so is its focus
    <div
      id={id}
      role="option"
      aria-selected={isSelected}
      className={`flex cursor-pointer items-baseline justify-between gap-3 rounded px-2 py-1 ${isActive ? 'bg-accent-soft text-accent' : 'hover:bg-hover'}`}
      onClick={onChoose}
    >
      <span className="min-w-0 wrap-anywhere">{labelOf(choice)}</span>
      {choice.note !== undefined && <span className="shrink-0 text-xs text-muted">{choice.note}</span>}
    </div>
  );
}
