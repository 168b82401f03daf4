// A dialog with a combobox and its listbox: https://www.w3.org/WAI/ARIA/apg/patterns/combobox/
import { type NavigateOptions, useNavigate } from '@tanstack/react-router';
import { Dialog as Radix } from 'radix-ui';
import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { useSignOut } from '../../api/session';
import { countOf } from '../../format/format-number';
import { useTheme } from '../shell/theme';
import { type Command, findCommands, KINDS, searchOf, withRecent } from './prepare-palette';
import { useCommands } from './use-commands';

const LIST = 'palette-list';
const KEPT = 'llm0-palette';

interface Props {
  readonly onClose: () => void;
  /** Text that was typed before the palette was there. */
  readonly takeEarly: () => string;
  /** Gets the focus back. */
  readonly opener: RefObject<HTMLElement | null>;
}

export function Palette({ onClose, takeEarly, opener }: Props) {
  const [typed, setTyped] = useTyped(takeEarly);
  const [active, setActive] = useState(0);
  const [recent] = useState(readRecent);
  const shown = findCommands(useCommands(typed, useOwnCommands()), typed, recent);
  const choose = useChoose(recent, { onClose, opener });
  const at = Math.min(active, shown.length - 1);
  const list = useInView(at);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setActive((at + step + shown.length) % Math.max(1, shown.length));
    else if (event.key === 'Home' || event.key === 'End') setActive(event.key === 'Home' ? 0 : shown.length - 1);
    else if (event.key === 'Enter') choose(shown[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Radix.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-50 bg-black/35" />
        <Radix.Content
          aria-describedby={undefined}
          onCloseAutoFocus={(event) => returnFocus(event, opener.current)}
          className="fixed top-[12dvh] left-1/2 z-50 flex max-h-[70dvh] w-[min(36rem,calc(100vw-1.5rem))] -translate-x-1/2 flex-col rounded-xl border bg-panel shadow-xl"
        >
          <Radix.Title className="sr-only">Search pages and actions</Radix.Title>
          <Field
            value={typed}
            active={at}
            onType={(text) => {
              setTyped(text);
              setActive(0);
            }}
            onKeyDown={onKeyDown}
          />
          <div
            ref={list}
            id={LIST}
            role="listbox"
            tabIndex={-1}
            aria-label="Results"
            className="min-h-0 overflow-y-auto p-1.5"
          >
            {shown.map((command, index) => (
              <Row
                key={command.id}
                {...{ command, id: `${LIST}-${index}`, isActive: index === at }}
                onPoint={() => setActive(index)}
                onChoose={() => choose(command)}
              />
            ))}
          </div>
          <p role="status" className={shown.length === 0 ? 'px-4 pt-2 pb-5 text-center text-muted' : 'sr-only'}>
            {shown.length === 0 ? 'No results.' : countOf(shown.length, 'result')}
          </p>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** The text of the field, with what was typed before it was there. */
function useTyped(takeEarly: Props['takeEarly']) {
  const [typed, setTyped] = useState('');
  useEffect(() => setTyped((text) => text + takeEarly()), [takeEarly]);
  return [typed, setTyped] as const;
}

/** The field has the focus before Radix could note who had it. */
function returnFocus(event: Event, opener: HTMLElement | null): void {
  event.preventDefault();
  opener?.focus({ preventScroll: true });
}

/** A list of options that scrolls to the active one. */
function useInView(active: number) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelectorAll('[role=option]')[active]?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  return list;
}

interface FieldProps {
  readonly value: string;
  readonly active: number;
  readonly onType: (text: string) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

function Field({ value, active, onType, onKeyDown }: FieldProps) {
  return (
    <input
      // biome-ignore lint/a11y/noAutofocus: it is opened to type in
      autoFocus
      role="combobox"
      data-palette
      aria-label="Page, project, key, customer, model, error or action"
      aria-expanded="true"
      aria-autocomplete="list"
      aria-controls={LIST}
      aria-activedescendant={active >= 0 ? `${LIST}-${active}` : undefined}
      placeholder="Page, project, key, customer, model, error or action"
      autoComplete="off"
      spellCheck={false}
      className="h-12 w-full shrink-0 rounded-t-xl border-b bg-panel px-4 text-base outline-none placeholder:text-faint"
      value={value}
      onChange={(event) => onType(event.target.value)}
      onKeyDown={onKeyDown}
    />
  );
}

interface RowProps {
  readonly command: Command;
  readonly id: string;
  readonly isActive: boolean;
  readonly onPoint: () => void;
  readonly onChoose: () => void;
}

function Row({ command: { kind, label, note }, id, isActive, onPoint, onChoose }: RowProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: its keys are those of the field, which keeps the focus
    // biome-ignore lint/a11y/useFocusableInteractive: so is its focus
    <div
      id={id}
      role="option"
      aria-selected={isActive}
      className={`flex cursor-pointer items-baseline gap-2 rounded-md px-2.5 py-1.5 ${isActive ? 'bg-accent-soft text-accent' : ''}`}
      onPointerMove={onPoint}
      onClick={onChoose}
    >
      <span className="min-w-0 truncate">{label}</span>
      {note !== undefined && <span className="min-w-0 truncate text-xs text-muted">{note}</span>}
      <span className="ml-auto shrink-0 text-xs text-muted">{KINDS[kind]}</span>
    </div>
  );
}

/** Providers that need more than an address. */
function useOwnCommands(): readonly Command[] {
  const [theme, toggleTheme] = useTheme();
  const signOut = useSignOut();
  const label = theme === 'dark' ? 'Light theme' : 'Dark theme';
  return [
    { id: 'theme', kind: 'action', label, words: 'switch mode dark light color', run: toggleTheme },
    {
      ...{ id: 'docs', kind: 'action', label: 'Documentation', words: 'help docs guides manual api reference' },
      run: () => window.open('/docs', '_blank', 'noopener'),
    },
    { id: 'sign out', kind: 'action', label: 'Sign out', words: 'log out logout', run: () => signOut.mutate() },
  ];
}

function useChoose(recent: readonly string[], { onClose, opener }: Pick<Props, 'onClose' | 'opener'>) {
  const navigate = useNavigate();
  return (command: Command | undefined) => {
    if (command === undefined) return;
    const { id, to, params, run } = command;
    keepRecent(withRecent(recent, id));
    if (to !== undefined) opener.current = null;
    onClose();
    run?.();
    if (to === undefined) return;
    const next = {
      to,
      params,
      search: searchOf(command),
    };
    void navigate(next as unknown as NavigateOptions);
  };
}

function readRecent(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEPT) ?? '[]');
    return Array.isArray(kept) ? kept.filter((id) => typeof id === 'string') : [];
  } catch {
    return [];
  }
}

function keepRecent(recent: readonly string[]): void {
  try {
    localStorage.setItem(KEPT, JSON.stringify(recent));
  } catch {
    // Without a storage nothing was used lately.
  }
}
