import { Dialog } from '../../ui/dialog';
import { SpecForm, type SpecFormProps } from './spec-form';

interface Props extends SpecFormProps {
  readonly title: string;
  readonly description?: string;
  readonly open?: boolean;
  readonly onClose: () => void;
}

/** One resource, to be made or changed. */
export function SpecDialog({ title, description, open, onClose, ...form }: Props) {
  return (
    <Dialog title={title} description={description} open={open} onClose={onClose}>
      <SpecForm {...form} />
    </Dialog>
  );
}
