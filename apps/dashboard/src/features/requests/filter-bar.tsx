import { useEffect, useState } from 'react';
import { CACHES, type RequestFilter, STATUSES } from '../../range/page-search';
import { Button } from '../../ui/button';
import { Form, Input, SearchInput, Select } from '../../ui/form';
import { Close } from '../../ui/icons';

interface Props {
  readonly filter: RequestFilter;
  readonly onChange: (change: { readonly [K in keyof RequestFilter]?: string }) => void;
}

type TextName = Exclude<keyof RequestFilter, 'status' | 'cache' | 'q'>;

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
const NAME_OPTIONS = NAMES.map((name) => [name, TEXTS[name].label] as const);

const CHOICES = [
  { name: 'status', label: 'Status', anyLabel: 'Any status', values: STATUSES },
  { name: 'cache', label: 'Cache', anyLabel: 'Any cache', values: CACHES },
] as const;

/** What the list is narrowed to; all of it stands in the address. */
export function FilterBar({ filter, onChange }: Props) {
  return (
    <search className="flex flex-wrap items-center gap-2">
      <SearchForm filter={filter} onChange={onChange} />
      {CHOICES.map(({ name, label, anyLabel, values }) => (
        <Select
          key={name}
          aria-label={label}
          className="w-32 max-sm:flex-1"
          anyLabel={anyLabel}
          options={values.map((value) => [value, value.replace('_', ' ')] as const)}
          value={filter[name] ?? ''}
          onValue={(value) => onChange({ [name]: value || undefined })}
        />
      ))}
      <AddForm onChange={onChange} />
      {NAMES.filter((name) => filter[name] !== undefined).map((name) => (
        <span
          key={name}
          className="inline-flex max-w-72 items-center gap-1 rounded-md bg-accent-soft py-0.5 pr-0.5 pl-2 text-xs text-accent"
        >
          <span className="truncate">
            {TEXTS[name].label}: {filter[name]}
          </span>
          <button
            type="button"
            aria-label={`Remove the filter ${TEXTS[name].label}`}
            className="rounded p-0.5 hover:bg-hover"
            onClick={() => onChange({ [name]: undefined })}
          >
            <Close width="12" height="12" />
          </button>
        </span>
      ))}
    </search>
  );
}

function SearchForm({ filter, onChange }: Props) {
  const [q, setQ] = useState(filter.q ?? '');
  useEffect(() => setQ(filter.q ?? ''), [filter.q]);
  return (
    <Form className="max-sm:w-full" onSubmit={() => onChange({ q: q.trim() || undefined })}>
      <SearchInput
        label="Search in models, customers, request ids and errors"
        placeholder="Search, then Enter"
        className="sm:w-52!"
        value={q}
        onValue={setQ}
      />
    </Form>
  );
}

function AddForm({ onChange }: Pick<Props, 'onChange'>) {
  const [name, setName] = useState<TextName>('model');
  const [value, setValue] = useState('');
  const add = () => {
    if (value.trim() !== '') onChange({ [name]: value.trim() });
    setValue('');
  };
  return (
    <Form className="flex items-center gap-1 max-sm:w-full" onSubmit={add}>
      <Select
        aria-label="Filter by"
        className="w-36 max-sm:flex-1"
        options={NAME_OPTIONS}
        value={name}
        onValue={(one) => setName(one as TextName)}
      />
      <Input
        aria-label={TEXTS[name].label}
        placeholder={TEXTS[name].placeholder}
        className="w-36! max-sm:flex-1"
        value={value}
        onValue={setValue}
      />
      <Button type="submit">Add</Button>
    </Form>
  );
}
