import { dropUndefined, oneOf, text } from '../../range/page-search';

/** Filters of the audit. `days`: so many until now. */
export interface AuditSearch {
  readonly actor?: string;
  readonly action?: string;
  readonly resource?: string;
  readonly resource_id?: string;
  readonly days?: string;
}

const readDays = oneOf(['1', '7', '30'] as const);

export const readAuditSearch = ({ days, ...given }: Record<string, unknown>): AuditSearch =>
  dropUndefined({
    ...{ actor: text(given.actor), action: text(given.action), days: readDays(String(days)) },
    ...{ resource: text(given.resource), resource_id: text(given.resource_id) },
  });
