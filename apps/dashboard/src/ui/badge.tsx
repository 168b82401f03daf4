import type { ReactNode } from 'react';

const TONES = {
  neutral: 'bg-hover text-muted',
  accent: 'bg-accent-soft text-accent',
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
} as const;

export type Tone = keyof typeof TONES;

export function Badge({ tone = 'neutral', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return (
    <span
      className={`inline-flex items-center rounded px-1.5 py-px text-2xs font-medium whitespace-nowrap forced-colors:border ${TONES[tone]}`}
    >
      {children}
    </span>
  );
}

export const STATUS_TONES: Readonly<Record<string, Tone>> = {
  success: 'good',
  rate_limited: 'warn',
  cap_exceeded: 'warn',
  aborted: 'neutral',
  caller_error: 'neutral',
  error: 'bad',
};
