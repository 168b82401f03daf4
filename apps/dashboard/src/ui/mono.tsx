import type { ReactNode } from 'react';

/** Text that is read letter by letter. */
export function Mono({ children }: { readonly children: ReactNode }) {
  return <code className="font-mono text-xs">{children}</code>;
}
