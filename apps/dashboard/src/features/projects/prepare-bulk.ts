import type { Key, KeyInput } from '../../api/projects';
import { countOf } from '../../format/format-number';
import type { FieldSpec } from '../forms/prepare-form';
import { KEY_FIELDS, LABELS } from './field-specs';

const NUMBERS = [
  ...['rate_limit_per_minute', 'tokens_per_minute', 'max_concurrency'],
  ...['budget_usd', 'daily_budget_usd', 'weekly_budget_usd'],
];
const unchanged = (spec: FieldSpec): FieldSpec => ({ ...spec, placeholder: 'unchanged', required: false });

/** Bulk actions on keys, with their fields. */
export const BULK_ACTIONS = {
  revoke: { label: 'Revoke', confirm: 'Revoke', fields: [] },
  expire: {
    label: 'Set expiry',
    confirm: 'Set the expiry of',
    fields: KEY_FIELDS.filter(({ name }) => name === 'expires_at'),
  },
  limit: {
    label: 'Set limits',
    confirm: 'Set the limits of',
    fields: KEY_FIELDS.filter(({ name }) => NUMBERS.includes(name)).map(unchanged),
  },
  label: {
    label: 'Label',
    confirm: 'Label',
    fields: [
      { ...LABELS, name: 'add', label: 'Set labels', hint: 'Keeps other labels of a key' },
      {
        name: 'remove',
        label: 'Remove labels',
        kind: 'list',
        placeholder: 'team',
        hint: 'Label names, separated by commas',
      },
    ],
  },
} as const satisfies Record<string, { label: string; confirm: string; fields: readonly FieldSpec[] }>;

export type BulkAction = keyof typeof BULK_ACTIONS;

/** Change of a key: its fields, or null to revoke it. Throws without a change. */
export function changeOf(
  action: BulkAction,
  body: Readonly<Record<string, unknown>>,
  key: Key,
): Partial<KeyInput> | null {
  if (action === 'revoke') return null;
  if (action === 'expire') return { expires_at: body.expires_at as string | null };
  if (action === 'label') {
    const remove = (body.remove ?? []) as string[];
    const kept = Object.entries(key.labels ?? {}).filter(([name]) => !remove.includes(name));
    return { labels: { ...Object.fromEntries(kept), ...((body.add ?? {}) as Record<string, string>) } };
  }
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

/** True if a form has any input. */
export const asksFor = (action: BulkAction, body: Readonly<Record<string, unknown>>): boolean =>
  action === 'revoke' || action === 'expire' || Object.values(body).some((value) => value !== null);

/** Example: `4 keys: they served 41 requests in the last hour. 1 is revoked already and stays as it is.` */
export function describeBulk(action: BulkAction, active: number, skipped: number, requests: number): string {
  const keys = active === 1 ? 'This key' : `These ${active} keys`;
  const served = `${keys} served ${countOf(requests, 'request')} in the last hour.`;
  const what = action === 'revoke' ? ' They are refused from the next request on. This cannot be undone.' : '';
  const left = skipped === 0 ? '' : ` ${countOf(skipped, 'selected key')} already revoked and left unchanged.`;
  if (active === 0) return `No key is changed.${left}`;
  return `${served}${active === 1 ? what.replace('They are', 'It is') : what}${left}`;
}

export interface Failed {
  readonly key: Key;
  readonly message: string;
}

/** Requests at once; the gateway has other clients. */
const AT_ONCE = 4;

/** Changes one key after the other; reports failures by key and continues. */
export async function runBulk(
  keys: readonly Key[],
  change: (key: Key) => Promise<unknown>,
): Promise<readonly Failed[]> {
  const failed: Failed[] = [];
  const waiting = [...keys];
  const work = async () => {
    for (let key = waiting.shift(); key !== undefined; key = waiting.shift()) {
      try {
        await change(key);
      } catch (error) {
        failed.push({ key, message: error instanceof Error ? error.message : String(error) });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failed;
}
