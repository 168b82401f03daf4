import type { ReactNode } from 'react';

interface Props {
  readonly id?: string;
  readonly title?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  readonly className?: string;
  /** Tables reach to the edges. */
  readonly flush?: boolean;
}

export function Card({ id, title, actions, children, className = '', flush = false }: Props) {
  return (
    <section id={id} className={`min-w-0 rounded-lg border bg-panel ${className}`}>
      {(title !== undefined || actions !== undefined) && (
        <header
          className={`flex min-h-10 flex-wrap items-center gap-x-3 gap-y-1 px-4 pt-2.5 pb-1.5 ${title === undefined ? 'justify-end' : 'justify-between'}`}
        >
          {title !== undefined && <h2 className="text-sm font-semibold">{title}</h2>}
          {actions !== undefined && <div className="flex flex-wrap items-center gap-1.5">{actions}</div>}
        </header>
      )}
      <div className={flush ? 'overflow-x-auto' : 'px-4 pb-4 pt-1'}>{children}</div>
    </section>
  );
}
