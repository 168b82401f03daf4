import type { ComponentProps } from 'react';
import { useMayChange } from '../../api/session';
import { Button } from '../../ui/button';

/** A button for users with write access. */
export function ChangeButton({ disabled = false, ...rest }: ComponentProps<typeof Button>) {
  return <Button disabled={!useMayChange() || disabled} {...rest} />;
}
