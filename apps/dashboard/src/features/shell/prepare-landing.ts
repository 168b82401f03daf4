import type { Permission } from '../../api/session';
import { SECTIONS } from './pages';

const PAGES = SECTIONS.flatMap(({ pages }) => pages);

/** `shown`: the page is for these roles. `elsewhere`: another one is their first. */
export type Landing =
  | { readonly kind: 'shown' }
  | { readonly kind: 'no_role' }
  | { readonly kind: 'elsewhere'; readonly to: string }
  | { readonly kind: 'forbidden'; readonly label: string; readonly first: { to: string; label: string } };

/** Where somebody with these permissions lands: the start page leads on, another page explains itself. */
export function landingOf(permissions: readonly Permission[], pathname: string): Landing {
  const first = PAGES.find(({ needs }) => permissions.includes(needs));
  if (first === undefined) return { kind: 'no_role' };
  const asked = PAGES.find(({ to }) => to === pathname || (to !== '/' && pathname.startsWith(`${to}/`)));
  if (asked === undefined || permissions.includes(asked.needs)) return { kind: 'shown' };
  return asked.to === '/'
    ? { kind: 'elsewhere', to: first.to }
    : { kind: 'forbidden', label: asked.label, first: { to: first.to, label: first.label } };
}
