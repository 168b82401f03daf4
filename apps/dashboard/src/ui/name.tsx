import type { ReactNode } from 'react';

/** Two lines on a phone: names that begin alike would look the same. */
export const WRAPPED_NAME =
  'max-sm:min-w-22 max-sm:in-[.table-fixed]:min-w-0 max-sm:line-clamp-2 max-sm:whitespace-normal max-sm:wrap-anywhere';

/** Name of a row, with its marks. */
export function Name({ name, children }: { readonly name: string; readonly children?: ReactNode }) {
  return (
    <span className="inline-flex max-w-full items-center gap-2 max-sm:flex-wrap max-sm:gap-y-0.5">
      <span className={`truncate font-medium ${WRAPPED_NAME}`} title={name}>
        {name}
      </span>
      {children}
    </span>
  );
}

/** Text that is read letter by letter. */
export function Mono({ children }: { readonly children: ReactNode }) {
  return <code className="font-mono text-xs">{children}</code>;
}
