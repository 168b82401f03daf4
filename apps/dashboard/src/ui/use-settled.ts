import { useEffect, useState } from 'react';

const SETTLE_MS = 250;

/** A value once it has stopped changing: so that typing asks once, not at every letter. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
