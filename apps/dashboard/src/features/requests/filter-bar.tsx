import { OUTCOMES } from '@llm0/core/errors/outcome';
import { Popover } from 'radix-ui';
import { type ReactNode, useEffect, useState } from 'react';
import { useSession } from '../../api/session';
import { outcomeLabel } from '../../format/outcome-labels';
import { CACHES, isHttpStatus, type RequestFilter, valuesOf } from '../../range/request-filter';
import { Button } from '../../ui/button';
import { Form, SearchInput, Select } from '../../ui/form';
import { Close, Plus } from '../../ui/icons';
import { FilterEditor, useValueNames } from './filter-editor';
import {
  type Chip,
  changeOf,
  chipsOf,
  describeChip,
  FIELD_NAMES,
  type FieldName,
  type FilterChange,
  fieldOf,
} from './prepare-filters';

interface Props {
  readonly filter: RequestFilter;
  readonly projectId: string | undefined;
  readonly onChange: (change: FilterChange) => void;
}

const CHOICES = [
  { name: 'outcome', label: 'Status', anyLabel: 'Any status', values: OUTCOMES },
  { name: 'cache', label: 'Cache', anyLabel: 'Any cache', values: CACHES },
] as const;

/** Filters of the list, all in the address. */
export function FilterBar({ filter, projectId, onChange }: Props) {
  const chips = chipsOf(filter);
  const searched = useSearched();
  return (
    <search className="flex flex-wrap items-center gap-2">
      <SearchForm {...{ filter, searched, onChange }} />
      {CHOICES.map(({ name, label, anyLabel, values }) => (
        <Select
          key={name}
          aria-label={label}
          className="w-32 max-sm:flex-1"
          anyLabel={valuesOf(filter[name]).length > 1 ? 'Multiple' : anyLabel}
          options={values.map((value) => [value, outcomeLabel(value)] as const)}
          value={typeof filter[name] === 'string' ? filter[name] : ''}
          onValue={(value) => onChange({ [name]: value || undefined })}
        />
      ))}
      <AddFilter {...{ chips, projectId, onChange }} />
      {chips.filter(hasChip).map((chip) => (
        <ChipButton key={`${chip.field} ${chip.isNot}`} {...{ chip, projectId, onChange }} />
      ))}
      {chips.length > 1 && (
        <Button
          kind="ghost"
          size="small"
          onClick={() => onChange(Object.assign({}, ...chips.map((chip) => changeOf(chip, null))))}
        >
          Clear filters
        </Button>
      )}
      {filter.q !== undefined && <p className="w-full text-xs text-muted">Search covers {searched}.</p>}
    </search>
  );
}

/** A single status or cache outcome belongs to its own list. */
const hasChip = ({ field, isNot, values }: Chip) =>
  isNot || values.length > 1 || !CHOICES.some(({ name }) => name === field);

/** What a search covers, in words: kept prompts and answers only for those who may read them. */
const useSearched = () =>
  `models, customers, request IDs, errors, HTTP codes${useSession().data?.can_read_bodies ? ', kept prompts and answers' : ''}`;

interface SearchProps extends Pick<Props, 'filter' | 'onChange'> {
  readonly searched: string;
}

function SearchForm({ filter, searched, onChange }: SearchProps) {
  const [q, setQ] = useState(filter.q ?? '');
  useEffect(() => setQ(filter.q ?? ''), [filter.q]);
  const search = () => {
    const text = q.trim();
    if (!isHttpStatus(text)) return onChange({ q: text || undefined });
    setQ('');
    onChange({ q: undefined, http_status: text });
  };
  return (
    <Form className="max-sm:w-full" onSubmit={search}>
      <SearchInput
        label={`Search ${searched}`}
        placeholder="Search and press Enter"
        title={`Searches ${searched}`}
        className="sm:w-52!"
        value={q}
        onValue={setQ}
      />
    </Form>
  );
}

interface ChipProps extends Pick<Props, 'projectId' | 'onChange'> {
  readonly chip: Chip;
}

/** A filter that is set: Enter edits it, Delete takes it away. */
function ChipButton({ chip, projectId, onChange }: ChipProps) {
  const [isOpen, setIsOpen] = useState(false);
  const nameOf = useValueNames(chip);
  const remove = () => onChange(changeOf(chip, null));
  const text = describeChip(chip, nameOf);
  return (
    <Popover.Root open={isOpen} onOpenChange={setIsOpen}>
      <span className="inline-flex max-w-80 items-center rounded-md bg-accent-soft text-xs text-accent">
        <Popover.Trigger
          className="min-w-0 truncate rounded-md py-1 pl-2"
          title={`${text} (press Enter to edit, Delete to remove)`}
          onKeyDown={(event) => {
            if (event.key !== 'Delete' && event.key !== 'Backspace') return;
            event.preventDefault();
            remove();
            document.getElementById('main')?.focus({ preventScroll: true });
          }}
        >
          {text}
        </Popover.Trigger>
        <button
          type="button"
          aria-label={`Remove the filter ${fieldOf(chip.field).label}`}
          className="touch rounded p-1.5 hover:bg-hover"
          onClick={remove}
        >
          <Close width="12" height="12" />
        </button>
      </span>
      <Panel label={`Filter ${fieldOf(chip.field).label}`}>
        <FilterEditor
          {...{ chip, projectId }}
          onChange={(next) => onChange(changeOf(chip, next))}
          onDone={() => setIsOpen(false)}
        />
      </Panel>
    </Popover.Root>
  );
}

interface AddProps extends Pick<Props, 'projectId' | 'onChange'> {
  readonly chips: readonly Chip[];
}

/** Asks for the field, then for its values. */
function AddFilter({ chips, projectId, onChange }: AddProps) {
  const [field, setField] = useState<FieldName | null>(null);
  const [isNot, setIsNot] = useState(false);
  const [isOpen, setIsOpen] = useState(false);
  const chip = chips.find((one) => one.field === field && one.isNot === isNot);
  const show = (open: boolean) => {
    setIsOpen(open);
    setField(null);
    setIsNot(false);
  };
  return (
    <Popover.Root open={isOpen} onOpenChange={show}>
      <Popover.Trigger asChild>
        <Button>
          <Plus /> Filter
        </Button>
      </Popover.Trigger>
      <Panel label="Add a filter">
        {field === null ? (
          <ul className="grid grid-cols-2 gap-0.5">
            {FIELD_NAMES.map((name) => (
              <li key={name}>
                <button
                  type="button"
                  className="w-full rounded px-2 py-1.5 text-left text-xs hover:bg-hover"
                  onClick={() => setField(name)}
                >
                  {fieldOf(name).label}
                </button>
              </li>
            ))}
          </ul>
        ) : (
          <FilterEditor
            chip={chip ?? { field, isNot, values: [] }}
            projectId={projectId}
            onChange={(next) => {
              setIsNot(next.isNot);
              onChange(changeOf(chip ?? null, next));
            }}
            onDone={() => show(false)}
          />
        )}
      </Panel>
    </Popover.Root>
  );
}

function Panel({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <Popover.Portal>
      <Popover.Content
        align="start"
        sideOffset={4}
        collisionPadding={8}
        aria-label={label}
        className="z-30 w-72 max-w-[calc(100vw-1rem)] rounded-lg border border-line-strong bg-panel p-3 shadow-lg"
      >
        {children}
      </Popover.Content>
    </Popover.Portal>
  );
}
