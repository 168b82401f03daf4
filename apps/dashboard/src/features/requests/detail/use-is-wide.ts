import { useSyncExternalStore } from 'react';

/** From this width on, a detail has room beside its list. */
const WIDE = '(min-width: 1200px)';

const subscribe = (onChange: () => void) => {
  const query = matchMedia(WIDE);
  query.addEventListener('change', onChange);
  return () => query.removeEventListener('change', onChange);
};

export const useIsWide = (): boolean => useSyncExternalStore(subscribe, () => matchMedia(WIDE).matches);
