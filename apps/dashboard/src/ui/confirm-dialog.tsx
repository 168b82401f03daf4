import { Button } from './button';
import { Dialog } from './dialog';
import { Failure } from './error-state';

interface Props {
  readonly title: string;
  readonly description: string;
  readonly confirmLabel: string;
  readonly disabled?: boolean;
  /** State of the confirmed change. */
  readonly change: { readonly error: Error | null };
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Confirmation before an irreversible action. */
export function ConfirmDialog({ title, description, confirmLabel, disabled, change, onConfirm, onClose }: Props) {
  return (
    <Dialog title={title} description={description} onClose={onClose}>
      <Failure of={change} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" disabled={disabled} onClick={onConfirm}>
          {confirmLabel}
        </Button>
      </div>
    </Dialog>
  );
}
