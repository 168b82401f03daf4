import { type FormEvent, useEffect, useState } from 'react';
import type { RequestFilter } from '../../range/page-search';
import { Button } from '../../ui/button';
import { Input, Select } from '../../ui/field';
import { Close } from '../../ui/icons';

interface Props {
  readonly filter: RequestFilter;
  readonly onChange: (change: { readonly [K in keyof RequestFilter]?: string }) => void;
}

type TextName =
  | 'model'
  | 'provider'
  | 'customer_id'
  | 'label'
  | 'min_cost'
  | 'min_latency'
  | 'api_key_id'
  | 'request_id';

/** Filters typed in; the others have a list to choose from. */
const TEXTS = {
  model: { label: 'Model', placeholder: 'gpt-4o-mini' },
  provider: { label: 'Provider', placeholder: 'openai' },
  customer_id: { label: 'Customer', placeholder: 'acme' },
  label: { label: 'Label', placeholder: 'team=growth' },
  min_cost: { label: 'Cost from, USD', placeholder: '0.01' },
  min_latency: { label: 'Latency from, ms', placeholder: '1000' },
  api_key_id: { label: 'Key id', placeholder: 'UUID' },
  request_id: { label: 'Request id', placeholder: 'UUID' },
} as const satisfies Record<TextName, { label: string; placeholder: string }>;
const NAMES = Object.keys(TEXTS) as TextName[];

const CHOICES = {
  status: ['success', 'rate_limited', 'cap_exceeded', 'aborted', 'error'],
  cache: ['exact', 'semantic', 'miss'],
} as const;

/** What the list is narrowed to; all of it stands in the address. */
export function FilterBar({ filter, onChange }: Props) {
  const [q, setQ] = useState(filter.q ?? '');
  const [name, setName] = useState<TextName>('model');
  const [value, setValue] = useState('');
  useEffect(() => setQ(filter.q ?? ''), [filter.q]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onChange({ q: q.trim() || undefined });
  };
  const add = (event: FormEvent) => {
    event.preventDefault();
    if (value.trim() !== '') onChange({ [name]: value.trim() });
    setValue('');
  };
  const set = NAMES.filter((one) => filter[one] !== undefined);
  return (
    <search className="flex flex-wrap items-center gap-2">
      <form className="max-sm:w-full" onSubmit={submit}>
        <Input
          type="search"
          aria-label="Search in models, customers, request ids and errors"
          placeholder="Search, then Enter"
          className="sm:w-52!"
          value={q}
          onChange={(event) => setQ(event.target.value)}
        />
      </form>
      {(Object.keys(CHOICES) as (keyof typeof CHOICES)[]).map((choice) => (
        <Select
          key={choice}
          aria-label={choice === 'status' ? 'Status' : 'Cache'}
          className="w-32 max-sm:flex-1"
          value={filter[choice] ?? ''}
          onChange={(event) => onChange({ [choice]: event.target.value || undefined })}
        >
          <option value="">{choice === 'status' ? 'Any status' : 'Any cache'}</option>
          {CHOICES[choice].map((option) => (
            <option key={option} value={option}>
              {option.replace('_', ' ')}
            </option>
          ))}
        </Select>
      ))}
      <form className="flex items-center gap-1 max-sm:w-full" onSubmit={add}>
        <Select
          aria-label="Filter by"
          className="w-36 max-sm:flex-1"
          value={name}
          onChange={(event) => setName(event.target.value as TextName)}
        >
          {NAMES.map((one) => (
            <option key={one} value={one}>
              {TEXTS[one].label}
            </option>
          ))}
        </Select>
        <Input
          aria-label={TEXTS[name].label}
          placeholder={TEXTS[name].placeholder}
          className="w-36! max-sm:flex-1"
          value={value}
          onChange={(event) => setValue(event.target.value)}
        />
        <Button type="submit">Add</Button>
      </form>
      {set.map((one) => (
        <span
          key={one}
          className="inline-flex max-w-72 items-center gap-1 rounded-md bg-accent-soft py-0.5 pr-0.5 pl-2 text-xs text-accent"
        >
          <span className="truncate">
            {TEXTS[one].label}: {filter[one]}
          </span>
          <button
            type="button"
            aria-label={`Remove the filter ${TEXTS[one].label}`}
            className="rounded p-0.5 hover:bg-hover"
            onClick={() => onChange({ [one]: undefined })}
          >
            <Close width="12" height="12" />
          </button>
        </span>
      ))}
    </search>
  );
}
