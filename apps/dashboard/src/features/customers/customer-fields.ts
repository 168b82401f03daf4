import type { FieldSpec, FormValues } from '../forms/prepare-form';
import { ModelField } from '../forms/suggested-fields';
import { per, perWithin } from '../projects/prepare-limits';

const MONTHLY = { name: 'monthly_spend_limit_usd', label: 'limit per month' };

export const CUSTOMER_FIELDS: readonly FieldSpec[] = [
  {
    name: 'daily_spend_limit_usd',
    label: 'Per day, USD',
    kind: 'usd',
    understood: perWithin('a day', () => [MONTHLY]),
  },
  { name: 'monthly_spend_limit_usd', label: 'Per month, USD', kind: 'usd', understood: per('a month') },
  { name: 'per_request_max_usd', label: 'Per request, USD', kind: 'usd', understood: per('a request') },
  { name: 'requests_per_minute', label: 'Requests per minute', kind: 'integer' },
  { name: 'requests_per_hour', label: 'Requests per hour', kind: 'integer' },
  { name: 'requests_per_day', label: 'Requests per day', kind: 'integer' },
  {
    name: 'on_limit_behavior',
    label: 'When a spend limit is reached',
    kind: 'text',
    options: { block: 'refuse (429)', downgrade: 'answer with a cheaper model', warn: 'answer with a warning' },
  },
  {
    name: 'downgrade_model',
    label: 'Cheaper model',
    kind: 'text',
    widget: ModelField,
  },
];

/** Fields that apply to the chosen values. */
export const customerFields = ({ on_limit_behavior: behavior }: FormValues): readonly FieldSpec[] =>
  CUSTOMER_FIELDS.filter(({ name }) => name !== 'downgrade_model' || behavior === 'downgrade');
