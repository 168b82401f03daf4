import { lazy, Suspense, useCallback, useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/button';
import { Search } from '../../ui/icons';

const Palette = lazy(() => import('./palette').then((module) => ({ default: module.Palette })));

const isMac = /Mac|iP(hone|ad)/.test(navigator.platform);

const isText = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent) =>
  key.length === 1 && !ctrlKey && !metaKey && !altKey;

/** One place listens for the keys; buttons ask it. */
export function PaletteHost() {
  const [isOpen, setIsOpen] = useState(false);
  /** What was typed since it was asked for, until it has the focus; null while closed, or there. */
  const early = useRef<string | null>(null);
  /** Where the focus was; a command that goes elsewhere forgets it. */
  const opener = useRef<HTMLElement | null>(null);
  const takeEarly = useCallback(() => {
    const typed = early.current ?? '';
    early.current = null;
    return typed;
  }, []);
  const set = useCallback((open: boolean) => {
    early.current = open ? '' : null;
    if (open && document.activeElement instanceof HTMLElement) opener.current = document.activeElement;
    setIsOpen(open);
  }, []);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (early.current !== null && isText(event)) {
        event.preventDefault();
        early.current += event.key;
        return;
      }
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      // Two open dialogs would make Escape ambiguous.
      if (document.querySelector('[role=dialog]:not(:has([data-palette]))') !== null) return;
      set(!isOpen);
    };
    const onAsked = () => set(true);
    addEventListener('keydown', onKey);
    addEventListener(ASKED, onAsked);
    return () => {
      removeEventListener('keydown', onKey);
      removeEventListener(ASKED, onAsked);
    };
  }, [isOpen, set]);
  if (!isOpen) return null;
  return (
    <Suspense>
      <Palette onClose={() => set(false)} takeEarly={takeEarly} opener={opener} />
    </Suspense>
  );
}

const ASKED = 'llm0-palette';

export function PaletteButton({ isSmall = false }: { readonly isSmall?: boolean }) {
  const open = () => dispatchEvent(new Event(ASKED));
  if (isSmall) {
    return (
      <Button kind="ghost" className="ml-auto" aria-label="Search" onClick={open}>
        <Search />
      </Button>
    );
  }
  return (
    <div className="px-2 pb-1">
      <Button className="w-full justify-start! text-muted" onClick={open}>
        <Search /> Search
        <kbd className="ml-auto font-sans text-2xs">{isMac ? '⌘K' : 'Ctrl K'}</kbd>
      </Button>
    </div>
  );
}
