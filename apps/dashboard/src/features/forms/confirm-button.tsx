import { type ComponentProps, useState } from 'react';
import { ConfirmDialog } from '../../ui/confirm-dialog';
import { ChangeButton } from './change-button';

interface Props extends Omit<ComponentProps<typeof ChangeButton>, 'onClick'> {
  readonly title: string;
  /** Deleted object, and its users. */
  readonly impact: string;
  readonly confirmLabel: string;
  readonly change: ComponentProps<typeof ConfirmDialog>['change'];
  /** Receives a function that closes the dialog; a failure keeps it open. */
  readonly onConfirm: (close: () => void) => void;
}

/** A button for removals; the user confirms after reading the impact. */
export function ConfirmButton({ title, impact, confirmLabel, change, onConfirm, ...button }: Props) {
  const [isAsking, setIsAsking] = useState(false);
  const close = () => setIsAsking(false);
  return (
    <>
      <ChangeButton kind="danger" {...button} onClick={() => setIsAsking(true)} />
      {isAsking && (
        <ConfirmDialog
          {...{ title, confirmLabel, change }}
          description={impact}
          onConfirm={() => onConfirm(close)}
          onClose={close}
        />
      )}
    </>
  );
}
