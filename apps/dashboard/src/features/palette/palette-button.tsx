import { lazy, Suspense, useEffect, useState } from 'react';
import { Button } from '../../ui/button';
import { Search } from '../../ui/icons';

const Palette = lazy(() => import('./palette').then((module) => ({ default: module.Palette })));

const isMac = /Mac|iP(hone|ad)/.test(navigator.platform);

/** One place listens for the keys; buttons ask it. */
export function PaletteHost() {
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      // Two open dialogs would make Escape ambiguous.
      if (document.querySelector('[role=dialog]:not(:has([data-palette]))') !== null) return;
      setIsOpen((before) => !before);
    };
    const onAsked = () => setIsOpen(true);
    addEventListener('keydown', onKey);
    addEventListener(ASKED, onAsked);
    return () => {
      removeEventListener('keydown', onKey);
      removeEventListener(ASKED, onAsked);
    };
  }, []);
  if (!isOpen) return null;
  return (
    <Suspense>
      <Palette onClose={() => setIsOpen(false)} />
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
