import { useState } from 'react';
import { Button } from './button';
import { Check, Copy } from './icons';

const SHOWN_MS = 1500;

function CopyButton({ text }: { readonly text: string }) {
  const [isCopied, setIsCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard?.writeText(text);
    setIsCopied(true);
    setTimeout(() => setIsCopied(false), SHOWN_MS);
  };
  return (
    <Button size="small" onClick={() => void copy()}>
      {isCopied ? <Check /> : <Copy />}
      {isCopied ? 'Copied' : 'Copy'}
    </Button>
  );
}

/** Text to take along, as it is. */
export function CodeBlock({ code, label }: { readonly code: string; readonly label: string }) {
  return (
    <figure className="rounded-md border bg-bg">
      <figcaption className="flex items-center justify-between border-b px-3 py-1 text-xs text-muted">
        {label}
        <CopyButton text={code} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre tabIndex={0} className="overflow-x-auto px-3 py-2.5 font-mono text-xs leading-relaxed">
        {code}
      </pre>
    </figure>
  );
}
