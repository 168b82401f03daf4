import { type ReactNode, useState } from 'react';
import { Button } from './button';
import { CodeBlock } from './copy-button';
import { Dialog } from './dialog';

interface Props {
  readonly title: string;
  readonly label: string;
  readonly secret: string;
  readonly onClose: () => void;
  /** Beneath the secret. */
  readonly children?: ReactNode;
}

/** A secret that appears only once: the dialog stays until the user copies or confirms it. */
export function ShownOnceDialog({ title, label, secret, onClose, children }: Props) {
  const [isCopied, setIsCopied] = useState(false);
  const [isAsked, setIsAsked] = useState(false);
  return (
    <Dialog
      title={title}
      description="Copy it now. Only its hash is stored, so it cannot be shown again."
      onClose={() => (isCopied ? onClose() : setIsAsked(true))}
      sticky
    >
      <div className="grid gap-3">
        <CodeBlock label={label} code={secret} onCopied={() => setIsCopied(true)} />
        {children}
        {isAsked && !isCopied && (
          <p role="alert" className="rounded-md bg-warn-soft px-3 py-2 text-warn">
            You have not copied it yet. After you close this, it cannot be shown again.
          </p>
        )}
        <div className="flex justify-end">
          <Button kind="primary" onClick={onClose}>
            I have copied it
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
