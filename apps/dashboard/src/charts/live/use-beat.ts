import { useEffect, useState } from 'react';

const BEAT_MS = 1000;
/** For readers who asked for little motion. */
const CALM_BEAT_MS = 10_000;

/** The time, once a second while the page is visible. */
export function useBeat(): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const calm = matchMedia('(prefers-reduced-motion: reduce)');
    let timer: ReturnType<typeof setInterval> | undefined;
    const start = () => {
      clearInterval(timer);
      if (document.hidden) return;
      setNowMs(Date.now());
      timer = setInterval(() => setNowMs(Date.now()), calm.matches ? CALM_BEAT_MS : BEAT_MS);
    };
    start();
    document.addEventListener('visibilitychange', start);
    calm.addEventListener('change', start);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', start);
      calm.removeEventListener('change', start);
    };
  }, []);
  return nowMs;
}
