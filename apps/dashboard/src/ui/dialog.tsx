import { Dialog as Radix } from 'radix-ui';
import { createContext, type ReactNode, type RefObject, useContext, useEffect, useRef, useState } from 'react';
import { Close } from './icons';

/** Props of a dialog for one object. */
export interface DialogOf<T> {
  readonly of: T;
  readonly onClose: () => void;
}

interface Props {
  readonly title: ReactNode;
  readonly description?: string;
  readonly open?: boolean;
  /** Absent: the dialog closes only after its action. */
  readonly onClose?: () => void;
  readonly children: ReactNode;
  /** `drawer`: the height of the page, from the right. */
  readonly kind?: keyof typeof SHAPES;
  /** A click outside doesn't close it, because the content requires an answer. */
  readonly sticky?: boolean;
}

const CENTRED = 'top-1/2 left-1/2 max-h-[calc(100dvh-2rem)] -translate-x-1/2 -translate-y-1/2 rounded-xl border';
const SHAPES = {
  dialog: `${CENTRED} w-[min(34rem,calc(100vw-1.5rem))]`,
  broad: `${CENTRED} w-[min(66rem,calc(100vw-1.5rem))]`,
  drawer: 'top-0 right-0 h-dvh w-[min(46rem,100vw)] border-l',
} as const;

/** What dialogs within say above their content. */
export const DialogNote = createContext<ReactNode>(null);

export function Dialog({ title, description, open = true, onClose, children, kind = 'dialog', sticky = false }: Props) {
  const content = useRef<HTMLDivElement>(null);
  const note = useContext(DialogNote);
  const focus = useReturningFocus(content, kind);
  const unsaved = useUnsaved(content, open);
  return (
    <Radix.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose?.()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-50 bg-black/35" />
        <Radix.Content
          ref={content}
          className={`fixed z-50 flex flex-col bg-panel shadow-xl ${SHAPES[kind]}`}
          onEscapeKeyDown={(event) => keepWhileChoosing(event) || unsaved.hold(event)}
          onPointerDownOutside={(event) => (sticky ? event.preventDefault() : unsaved.hold(event))}
          onInput={unsaved.forget}
          {...focus}
          {...(description === undefined ? { 'aria-describedby': undefined } : {})}
        >
          <header className="flex items-start justify-between gap-4 border-b px-5 py-3.5">
            <div className="min-w-0">
              <Radix.Title className="text-base font-semibold wrap-anywhere">{title}</Radix.Title>
              {description !== undefined && (
                <Radix.Description className="mt-0.5 text-muted wrap-anywhere">{description}</Radix.Description>
              )}
            </div>
            {onClose !== undefined && (
              <Radix.Close className="touch rounded p-1 text-faint hover:bg-hover hover:text-text" aria-label="Close">
                <Close />
              </Radix.Close>
            )}
          </header>
          <div data-body className="min-h-0 overflow-y-auto px-5 py-4 *:min-w-0">
            {unsaved.isHeld && (
              <p role="alert" className="mb-3 rounded-md bg-warn-soft px-3 py-2 text-warn">
                Your changes aren't saved. Escape once more discards them.
              </p>
            )}
            {note}
            <DialogNote value={null}>{children}</DialogNote>
          </div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** Escape closes an open suggestion list first; otherwise the dialog gets the key before the field. */
function keepWhileChoosing(event: KeyboardEvent): boolean {
  const { target } = event;
  const isChoosing =
    target instanceof Element && target.matches('[role=combobox][aria-expanded=true]:not([data-palette])');
  if (isChoosing) event.preventDefault();
  return isChoosing;
}

/** The first Escape or click outside of a form that was changed says so; the second one closes. */
function useUnsaved(content: RefObject<HTMLDivElement | null>, open: boolean) {
  const [isHeld, setIsHeld] = useState(false);
  const forget = () => setIsHeld(false);
  useEffect(() => {
    if (!open) setIsHeld(false);
  }, [open]);
  const hold = (event: Event) => {
    if (isHeld || content.current?.querySelector('form[data-changed]') == null) return;
    event.preventDefault();
    setIsHeld(true);
  };
  return { isHeld, hold, forget };
}

const FIELDS = 'input:not([type=hidden]), select, textarea, [role=combobox]';

/** First field; in a centred dialog without fields its first button, never the one that closes it at the top. */
function firstField(content: HTMLElement | null, kind: keyof typeof SHAPES): HTMLElement | undefined {
  const body = content?.querySelector<HTMLElement>('[data-body]');
  const usable = (selector: string) =>
    [...(body?.querySelectorAll<HTMLElement>(selector) ?? [])].find(
      (one) => !one.matches(':disabled') && one.checkVisibility({ visibilityProperty: true }),
    );
  return usable(FIELDS) ?? (kind === 'drawer' ? undefined : usable('button, a[href]'));
}

/** Last focused element outside of dialogs, for nested dialogs. */
let lastOnPage: HTMLElement | null = null;

/** Returns focus to the opener of any dialog; Radix does so for its own triggers only. */
function useReturningFocus(content: RefObject<HTMLDivElement | null>, kind: keyof typeof SHAPES) {
  const opener = useRef<HTMLElement | null>(null);
  return {
    onOpenAutoFocus: (event: Event) => {
      const active = document.activeElement;
      opener.current = active instanceof HTMLElement && active !== document.body ? active : null;
      if (opener.current?.closest('[role=dialog]') === null) lastOnPage = opener.current;
      const first = firstField(content.current, kind);
      if (first === undefined) return;
      event.preventDefault();
      first.focus({ preventScroll: true });
    },
    onCloseAutoFocus: (event: Event) => {
      event.preventDefault();
      const main = document.getElementById('main');
      const target = [opener.current, lastOnPage, main].find((one) => one?.isConnected);
      target?.focus({ preventScroll: true });
    },
  };
}
