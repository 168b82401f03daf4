import { useNavigate, useSearch } from '@tanstack/react-router';

/** Tabs of a page; the address has the tab, unless it is the first. */
export type ChoiceName = 'tab' | 'metric' | 'by' | 'compared' | 'outcome' | 'view' | 'across' | 'days' | 'state';

/** A choice stored in the address; an invalid value means the first. */
export function useChoice<T extends string>(
  name: ChoiceName,
  choices: readonly [T, ...T[]],
): readonly [T, (choice: T) => void] {
  const search = useSearch({ strict: false }) as Readonly<Record<string, unknown>>;
  const navigate = useNavigate();
  const chosen = choices.find((choice) => choice === search[name]) ?? choices[0];
  const choose = (choice: T) =>
    void navigate({
      to: '.',
      search: (before) => ({ ...before, [name]: choice === choices[0] ? undefined : choice }),
      replace: true,
      resetScroll: false,
    });
  return [chosen, choose];
}
