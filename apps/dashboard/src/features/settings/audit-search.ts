import { dropUndefined, oneOf, text } from '../../range/page-search';

/** Filters of the audit. `days`: so many until now. */
export interface AuditSearch {
  readonly actor?: string;
  readonly action?: string;
  readonly resource?: string;
  readonly days?: string;
}

const readDays = oneOf(['1', '7', '30'] as const);

export const readAuditSearch = ({ actor, action, resource, days }: Record<string, unknown>): AuditSearch =>
  dropUndefined({ actor: text(actor), action: text(action), resource: text(resource), days: readDays(String(days)) });
