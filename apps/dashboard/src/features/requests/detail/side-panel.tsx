import { type ReactNode, useEffect, useId, useRef } from 'react';
import { Close } from '../../../ui/icons';

interface Props {
  readonly title: string;
  /** Names the shown object: another one starts at its top. */
  readonly description: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A panel beside a list, both in use at the same time. */
export function SidePanel({ title, description, onClose, children }: Props) {
  const panel = useRef<HTMLElement>(null);
  const titleId = useId();
  useEffect(() => {
    // The keyboard goes on in the panel; a click leaves the focus in the list.
    if (document.activeElement?.matches('[data-row]:focus-visible')) panel.current?.focus({ preventScroll: true });
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another object, not another render
  useEffect(() => void panel.current?.scrollTo(0, 0), [description]);
  return (
    <section
      ref={panel}
      tabIndex={-1}
      aria-labelledby={titleId}
      className="w-[clamp(24rem,42%,44rem)] shrink-0 scroll-pt-16 overflow-y-auto rounded-lg border bg-panel print:hidden"
    >
      <header className="sticky top-0 z-10 flex items-start justify-between gap-4 border-b bg-panel px-5 py-3.5">
        <div className="min-w-0">
          <h2 id={titleId} className="text-base font-semibold">
            {title}
          </h2>
          <p className="mt-0.5 text-muted wrap-anywhere">{description}</p>
        </div>
        <button
          type="button"
          aria-label="Close"
          onClick={onClose}
          className="touch rounded p-1 text-faint hover:bg-hover hover:text-text"
        >
          <Close />
        </button>
      </header>
      <div className="px-5 py-4 *:min-w-0">{children}</div>
    </section>
  );
}
