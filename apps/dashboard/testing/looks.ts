import { isAll } from '@llm0/testing/lane';

/** The daily lane looks at one width and theme, `--all` at all. */
export const WIDTHS: readonly number[] = isAll ? [390, 1440] : [1440];
export const THEMES: readonly ('light' | 'dark')[] = isAll ? ['light', 'dark'] : ['light'];
