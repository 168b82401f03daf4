import { useSyncExternalStore } from 'react';

type Theme = 'light' | 'dark';

const readTheme = (): Theme => (document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light');

/** The theme changes in several places. */
function watchTheme(notify: () => void): () => void {
  const watcher = new MutationObserver(notify);
  watcher.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return () => watcher.disconnect();
}

/** The theme in force, and a switch that this browser remembers. */
export function useTheme(): [Theme, () => void] {
  const theme = useSyncExternalStore(watchTheme, readTheme);
  const toggle = () => {
    const next = theme === 'dark' ? 'light' : 'dark';
    document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem('llm0-theme', next);
    } catch {
      // Without a storage the choice holds until the page is left.
    }
  };
  return [theme, toggle];
}
