import { Tabs } from 'radix-ui';
import type { ComponentType } from 'react';
import { useChoice } from '../range/use-choice';

/** Value, label and content of a tab. */
export type Tab = readonly [value: string, label: string, Content: ComponentType];

interface Props {
  /** For screen readers. */
  readonly label: string;
  readonly tabs: readonly [Tab, ...Tab[]];
}

/** Cards of which the address selects one; by default the first. */
export function TabbedCards({ label, tabs }: Props) {
  const [[first], ...others] = tabs;
  const [tab, show] = useChoice('tab', [first, ...others.map(([value]) => value)]);
  return (
    <Tabs.Root value={tab} onValueChange={show}>
      <Tabs.List aria-label={label} className="mb-4 flex gap-4 overflow-x-auto overflow-y-hidden border-b">
        {tabs.map(([value, text]) => (
          <Tabs.Trigger
            key={value}
            value={value}
            className="-mb-px border-b-2 border-transparent px-0.5 py-1.5 whitespace-nowrap text-muted -outline-offset-2! hover:text-text data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-text"
          >
            {text}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {tabs.map(([value, , Content]) => (
        <Tabs.Content key={value} value={value}>
          <Content />
        </Tabs.Content>
      ))}
    </Tabs.Root>
  );
}
