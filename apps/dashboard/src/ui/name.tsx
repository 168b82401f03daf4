import type { ReactNode } from 'react';

/** Two lines on a phone: names that begin alike would look the same. */
export const WRAPPED_NAME =
  'max-sm:min-w-22 max-sm:in-[.table-fixed]:min-w-0 max-sm:line-clamp-2 max-sm:whitespace-normal max-sm:wrap-anywhere';

interface Props {
  readonly name: string;
  /** In full, in a column that `wraps`. */
  readonly wraps?: boolean;
  readonly children?: ReactNode;
}

/** Name of a row, with its marks. */
export function Name({ name, wraps = false, children }: Props) {
  return (
    <span className="inline-flex max-w-full items-center gap-2 max-sm:flex-wrap max-sm:gap-y-0.5">
      <span
        className={`font-medium ${wraps ? 'whitespace-normal wrap-anywhere' : `truncate ${WRAPPED_NAME}`}`}
        title={name}
      >
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
