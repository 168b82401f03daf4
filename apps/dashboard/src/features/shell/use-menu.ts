import { useCallback, useEffect, useRef, useState } from 'react';

/** Mobile menu: takes and returns focus, closes on Escape, and never covers the focused element. */
export function useMenu(path: string) {
  const [isOpen, setIsOpen] = useState(false);
  const menu = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const close = () => setIsOpen(false);
  const goBack = useCallback(() => {
    setIsOpen(false);
    opener.current?.focus();
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes when the page changes
  useEffect(() => setIsOpen(false), [path]);
  useEffect(() => {
    if (!isOpen) return;
    menu.current?.querySelector<HTMLElement>('nav a')?.focus();
    const onKey = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') goBack();
    };
    const onFocus = ({ target }: FocusEvent) => {
      if (target instanceof Node && menu.current?.contains(target) === false) setIsOpen(false);
    };
    document.addEventListener('keydown', onKey);
    document.addEventListener('focusin', onFocus);
    return () => {
      document.removeEventListener('keydown', onKey);
      document.removeEventListener('focusin', onFocus);
    };
  }, [isOpen, goBack]);
  return { menu, opener, isOpen, open: () => setIsOpen(true), close, goBack };
}
