import { useEffect, useState } from 'react';

const SETTLE_MS = 250;

/** A value after it stops changing, so that typing queries once and not at every letter. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
