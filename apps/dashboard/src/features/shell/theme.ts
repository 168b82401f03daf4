import { useState } from 'react';

type Theme = 'light' | 'dark';

/** The theme in force, and a switch that this browser remembers. */
export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light');
  const toggle = () => {
    const next = theme === 'dark' ? 'light' : 'dark';
    document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem('llm0-theme', next);
    } catch {
      // Without a storage the choice holds until the page is left.
    }
    setTheme(next);
  };
  return [theme, toggle];
}
