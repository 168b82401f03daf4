import { createContext, type ReactNode, useCallback, useContext, useRef, useState } from 'react';

const SHOWN_MS = 4000;
const ToastContext = createContext<(text: string) => void>(() => {});

/** Short message about a finished action. */
export const useToast = () => useContext(ToastContext);

export function ToastProvider({ children }: { readonly children: ReactNode }) {
  const [text, setText] = useState('');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const show = useCallback((message: string) => {
    clearTimeout(timer.current);
    setText(message);
    timer.current = setTimeout(() => setText(''), SHOWN_MS);
  }, []);
  return (
    <ToastContext value={show}>
      {children}
      <div aria-live="polite" className="fixed right-4 bottom-4 z-60">
        {text !== '' && <div className="rounded-md bg-text px-3.5 py-2 text-bg shadow-lg">{text}</div>}
      </div>
    </ToastContext>
  );
}
