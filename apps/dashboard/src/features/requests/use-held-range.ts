import { useRef } from 'react';
import type { Page } from '../../range/use-page';

/**
 * Ranges move with the clock, and a new range reloads the list. While the user watches live or has loaded more pages,
 * the range stays; a live range has no end.
 */
export function useHeldRange({ query, search }: Page, live: boolean) {
  const held = useRef({ query, asked: '', isHeld: false });
  const asked = JSON.stringify([search.range, search.from, search.to, search.project, live]);
  if (held.current.asked !== asked) held.current = { query, asked, isHeld: live };
  if (!held.current.isHeld) held.current.query = query;
  const { to, ...openEnded } = held.current.query;
  const hold = (isDeep: boolean) => {
    held.current.isHeld = live || isDeep;
  };
  return { query: live ? openEnded : { ...openEnded, to }, hold };
}
