import type { ReactNode } from 'react';

/** Empty state with the next step. */
export function EmptyState({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-10 text-center">
      <p className="font-medium">{title}</p>
      {children !== undefined && <div className="max-w-md min-w-0 text-muted has-[pre]:max-w-3xl">{children}</div>}
    </div>
  );
}
