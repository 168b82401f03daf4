import { useState } from 'react';
import { Button } from './button';
import { copyText } from './copy-text';
import { Check, Copy } from './icons';

const SHOWN_MS = 1500;

const COPY_KEYS = /Mac|iP(hone|ad)/.test(navigator.platform) ? '⌘C' : 'Ctrl+C';

interface CopyProps {
  readonly text: string;
  readonly onCopied: (() => void) | undefined;
}

function CopyButton({ text, onCopied }: CopyProps) {
  const [isCopied, setIsCopied] = useState(false);
  const [isRefused, setIsRefused] = useState(false);
  const copy = async (button: HTMLElement) => {
    const isDone = await copyText(text, button);
    setIsRefused(!isDone);
    if (!isDone) return;
    onCopied?.();
    setIsCopied(true);
    setTimeout(() => setIsCopied(false), SHOWN_MS);
  };
  return (
    <>
      {isRefused && (
        <span role="alert" className="mr-2 text-warn">
          The browser blocked copying. Select the text and press {COPY_KEYS}.
        </span>
      )}
      <Button size="small" onClick={(event) => void copy(event.currentTarget)}>
        {isCopied ? <Check /> : <Copy />}
        {isCopied ? 'Copied' : 'Copy'}
      </Button>
    </>
  );
}

interface CodeProps {
  readonly code: string;
  readonly label: string;
  readonly onCopied?: () => void;
}

/** Copyable text. */
export function CodeBlock({ code, label, onCopied }: CodeProps) {
  return (
    <figure className="min-w-0 rounded-md border bg-bg">
      <figcaption className="flex items-center justify-between border-b px-3 py-1 text-xs text-muted">
        {label}
        <CopyButton text={code} onCopied={onCopied} />
      </figcaption>
      <pre className="px-3 py-2.5 font-mono text-xs leading-relaxed whitespace-pre-wrap wrap-anywhere">{code}</pre>
    </figure>
  );
}
