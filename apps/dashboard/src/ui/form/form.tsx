import type { ReactNode } from 'react';

interface Props {
  readonly className?: string;
  readonly onSubmit: () => void;
  readonly children: ReactNode;
}

/** A form that does not leave its page. */
export function Form({ className = 'grid gap-3', onSubmit, children }: Props) {
  return (
    <form
      className={className}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}
