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

export const readAuditSearch = ({
  actor,
  action,
  resource,
  resource_id: id,
  days,
}: Record<string, unknown>): AuditSearch =>
  dropUndefined({
    ...{ actor: text(actor), action: text(action), days: readDays(String(days)) },
    ...{ resource: text(resource), resource_id: text(id) },
  });
