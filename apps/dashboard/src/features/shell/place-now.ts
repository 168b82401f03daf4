type Search = Readonly<Record<string, unknown>>;

/** Path and tab of an earlier version → path. */
const TABS: ReadonlyMap<string, string> = new Map([
  ['/settings alerts', '/alerts'],
  ['/settings backends', '/backends'],
  ['/settings audit', '/audit'],
  ['/projects customers', '/customers'],
]);

/** New place of an address of an earlier version, with its parameters; null if its page has not moved. */
export function placeNow(pathname: string, search: Search): { readonly to: string; readonly search: Search } | null {
  const path = pathname.endsWith('/') ? pathname.slice(0, -1) : pathname;
  if (path === '/spend') return { to: '/money', search };
  if (path === '/finance') return { to: '/money', search: { ...search, tab: 'statement' } };
  const to = typeof search.tab === 'string' ? TABS.get(`${path} ${search.tab}`) : undefined;
  return to === undefined ? null : { to, search: { ...search, tab: undefined } };
}
