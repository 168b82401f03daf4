import type { ComponentProps } from 'react';

const KINDS = {
  default: 'border border-line-strong bg-panel hover:bg-hover',
  primary: 'border border-transparent bg-accent text-accent-text hover:opacity-90',
  danger: 'border border-line-strong bg-panel text-bad hover:bg-bad-soft',
  ghost: 'border border-transparent text-muted hover:bg-hover hover:text-text',
} as const;
/** A finger needs 40 px. */
const SIZES = {
  small: 'h-7 px-2 text-xs max-md:h-10 max-md:min-w-10',
  normal: 'h-8 px-3 text-sm max-md:h-10',
} as const;

interface Props extends ComponentProps<'button'> {
  readonly kind?: keyof typeof KINDS;
  readonly size?: keyof typeof SIZES;
  /** Disabled until what it asked for is there; the focus waits for it. */
  readonly isBusy?: boolean;
}

export function Button({ kind = 'default', size = 'normal', className = '', type = 'button', isBusy, ...rest }: Props) {
  return (
    <button
      type={type}
      className={`inline-flex items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap disabled:cursor-not-allowed disabled:opacity-50 ${KINDS[kind]} ${SIZES[size]} ${className}`}
      {...(isBusy !== undefined && { disabled: isBusy, 'aria-busy': isBusy })}
      {...rest}
    />
  );
}
