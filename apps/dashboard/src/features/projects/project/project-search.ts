import { dropUndefined, oneOf, text } from '../../../range/page-search';

const readTab = oneOf(['keys', 'limits', 'caching', 'guardrails', 'danger'] as const);

/** Address parameters of a project's page. */
export interface ProjectSearch {
  readonly tab?: NonNullable<ReturnType<typeof readTab>>;
  readonly open?: string;
}

/** An open row without a tab is a key. */
export function readProjectSearch(search: Readonly<Record<string, unknown>>): ProjectSearch {
  const open = text(search.open);
  return dropUndefined({ tab: readTab(search.tab) ?? (open === undefined ? undefined : ('keys' as const)), open });
}
