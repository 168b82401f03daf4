import type { ReactNode } from 'react';

/** What a row is called, and beside it what is special about it. */
export function Name({ name, children }: { readonly name: string; readonly children?: ReactNode }) {
  return (
    <span className="inline-flex max-w-full items-center gap-2">
      <span className="truncate font-medium">{name}</span>
      {children}
    </span>
  );
}
