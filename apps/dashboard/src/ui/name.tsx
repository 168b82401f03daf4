import type { ReactNode } from 'react';

/** Name of a row, with its marks. */
export function Name({ name, children }: { readonly name: string; readonly children?: ReactNode }) {
  return (
    <span className="inline-flex max-w-full items-center gap-2 max-sm:flex-wrap max-sm:gap-y-0.5">
      <span className="truncate font-medium">{name}</span>
      {children}
    </span>
  );
}

/** Text that is read letter by letter. */
export function Mono({ children }: { readonly children: ReactNode }) {
  return <code className="font-mono text-xs">{children}</code>;
}
