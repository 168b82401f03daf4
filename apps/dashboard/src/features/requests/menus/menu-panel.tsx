import { Popover } from 'radix-ui';
import type { ReactNode } from 'react';

interface Props {
  readonly label: string;
  /** Its width, and how its parts are laid out. */
  readonly className: string;
  readonly children: ReactNode;
}

/** Menu of a button in the page's head. */
export const MenuPanel = ({ label, className, children }: Props) => (
  <Popover.Portal>
    <Popover.Content
      align="end"
      sideOffset={4}
      collisionPadding={8}
      aria-label={label}
      className={`z-30 max-h-[70dvh] overflow-y-auto rounded-lg border border-line-strong bg-panel p-3 shadow-lg ${className}`}
    >
      {children}
    </Popover.Content>
  </Popover.Portal>
);
