import { Tabs } from 'radix-ui';
import { type ComponentType, type SyntheticEvent, useEffect, useRef } from 'react';
import { useChoice } from '../range/use-choice';

/** Value, label and content of a tab; a kept one stays, hidden, with its input. */
export type Tab<P extends object = object> = readonly [
  value: string,
  label: string,
  Content: ComponentType<P>,
  isKept?: 'kept',
];

interface Props<P extends object> {
  /** For screen readers. */
  readonly label: string;
  readonly tabs: readonly [Tab<P>, ...Tab<P>[]];
  /** Props of all contents. */
  readonly given?: P;
}

/** Room of the fade at the end of tabs that scroll, in pixels: 2 rem. */
const FADE = 32;
/** On a phone, the fade tells that tabs go on. */
const LIST =
  'relative mb-4 flex gap-2 overflow-x-auto overflow-y-hidden border-b scroll-px-8 max-sm:pr-8 max-sm:[mask-image:linear-gradient(to_right,#000_calc(100%-2rem),transparent)]';

/** Radix focuses a pressed tab by script, which browsers take for the keyboard's: its ring would hide the underline. */
const markPressed = ({ currentTarget }: SyntheticEvent<HTMLElement>) => {
  currentTarget.dataset.pressed = '';
};
const unmark = ({ currentTarget }: SyntheticEvent<HTMLElement>) => {
  delete currentTarget.dataset.pressed;
};

/** Cards of which the address selects one; by default the first. */
export function TabbedCards<P extends object>({ label, tabs, given }: Props<P>) {
  const [[first], ...others] = tabs;
  const [tab, show] = useChoice('tab', [first, ...others.map(([value]) => value)]);
  const list = useRef<HTMLDivElement>(null);
  const seen = useRef(new Set<string>());
  seen.current.add(tab);
  useEffect(() => {
    const chosen = list.current?.querySelector<HTMLElement>(`[data-tab="${tab}"]`);
    if (list.current && chosen) list.current.scrollLeft = chosen.offsetLeft - FADE;
  }, [tab]);
  return (
    <Tabs.Root value={tab} onValueChange={show}>
      <Tabs.List ref={list} aria-label={label} className={LIST}>
        {tabs.map(([value, text]) => (
          <Tabs.Trigger
            key={value}
            value={value}
            data-tab={value}
            onMouseDown={markPressed}
            onKeyDown={unmark}
            onBlur={unmark}
            className="-mb-px border-b-2 border-transparent px-1.5 py-1.5 max-md:py-2.5 whitespace-nowrap text-muted -outline-offset-3! data-pressed:outline-none! hover:text-text data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-text"
          >
            {text}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {tabs.map(([value, , Content, isKept]) => (
        <Tabs.Content
          key={value}
          value={value}
          hidden={value !== tab}
          forceMount={isKept && seen.current.has(value) ? true : undefined}
        >
          <Content {...(given as P)} />
        </Tabs.Content>
      ))}
    </Tabs.Root>
  );
}
