import { Dialog as Radix } from 'radix-ui';
import type { ReactNode } from 'react';
import { Close } from './icons';

/** What is needed to show one thing in a dialog. */
export interface DialogOf<T> {
  readonly of: T;
  readonly onClose: () => void;
}

interface Props {
  readonly title: ReactNode;
  readonly description?: string;
  readonly open?: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** `drawer`: the height of the page, from the right. */
  readonly kind?: 'dialog' | 'drawer';
  /** A click beside it does not close it: there is something that must be read or done. */
  readonly sticky?: boolean;
}

const SHAPES = {
  dialog:
    'top-1/2 left-1/2 max-h-[calc(100dvh-2rem)] w-[min(34rem,calc(100vw-1.5rem))] -translate-x-1/2 -translate-y-1/2 rounded-xl border',
  drawer: 'top-0 right-0 h-dvh w-[min(46rem,100vw)] border-l',
} as const;

export function Dialog({ title, description, open = true, onClose, children, kind = 'dialog', sticky = false }: Props) {
  return (
    <Radix.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/35" />
        <Radix.Content
          className={`fixed z-50 flex flex-col bg-panel shadow-xl ${SHAPES[kind]}`}
          onPointerDownOutside={(event) => sticky && event.preventDefault()}
          {...(description === undefined ? { 'aria-describedby': undefined } : {})}
        >
          <header className="flex items-start justify-between gap-4 border-b px-5 py-3.5">
            <div className="min-w-0">
              <Radix.Title className="text-base font-semibold wrap-anywhere">{title}</Radix.Title>
              {description !== undefined && (
                <Radix.Description className="mt-0.5 text-muted">{description}</Radix.Description>
              )}
            </div>
            <Radix.Close className="rounded p-1 text-faint hover:bg-hover hover:text-text" aria-label="Close">
              <Close />
            </Radix.Close>
          </header>
          <div className="min-h-0 overflow-y-auto px-5 py-4">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
