import { useState } from 'react';
import { useLabelNames } from '../../api/finance';
import { Button } from '../../ui/button';
import { Form, Input, Select } from '../../ui/form';
import { Close } from '../../ui/icons';
import { Segmented } from '../../ui/segmented';
import { useLevelNames } from '../teams/use-teams';
import { DECIMALS, FILTERS, type FilterName, type FinanceSearch, GROUPS, LEVEL_FILTERS } from './finance-search';
import type { Finance } from './use-finance';

const NAMES = { ...LEVEL_FILTERS, ...FILTERS };

type Props = Pick<Finance, 'by' | 'search' | 'change'>;

/** Grouping, filters and decimals of a statement; on a phone behind a button, so that figures come first. */
export function FilterRow(finance: Props) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <div className="sm:contents print:hidden!">
      <Button className="sm:hidden" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        Group and filter
      </Button>
      <div className={`flex-wrap items-center gap-2 sm:contents ${isOpen ? 'flex max-sm:mt-2' : 'hidden'}`}>
        <Filters {...finance} />
      </div>
    </div>
  );
}

function Filters({ by, search, change }: Props) {
  const names = useLabelNames().data?.data ?? [];
  const label = by.startsWith('label.') ? by.slice('label.'.length) : '';
  const others = [...new Set([...names, label])].filter((name) => name !== '').sort();
  const levelName = useLevelNames(search);
  return (
    <>
      <Segmented
        label="Group by"
        options={GROUPS as Readonly<Record<string, string>>}
        value={by}
        onChange={(chosen) => change({ by: chosen })}
      />
      <Select
        aria-label="Group by another label"
        className="w-40"
        anyLabel={others.length === 0 ? 'No other labels' : 'Another label…'}
        options={others}
        disabled={others.length === 0}
        value={label}
        onValue={(chosen) => change({ by: chosen === '' ? undefined : `label.${chosen}` })}
      />
      <NarrowForm change={change} />
      {(Object.keys(NAMES) as FilterName[])
        .filter((name) => search[name] !== undefined)
        .map((name) => (
          <Button key={name} size="small" className="max-w-full" onClick={() => change({ [name]: undefined })}>
            <span className="truncate">
              {NAMES[name]}: {name in LEVEL_FILTERS ? levelName(search[name] ?? '') : search[name]}
            </span>
            <Close aria-hidden="true" className="size-3 shrink-0" />
            <span className="sr-only">Remove filter</span>
          </Button>
        ))}
      <Select
        aria-label="Decimals"
        className="w-44"
        options={DECIMALS}
        value={search.decimals ?? 'auto'}
        onValue={(chosen) =>
          change({ decimals: chosen === 'auto' ? undefined : (chosen as FinanceSearch['decimals']) })
        }
      />
    </>
  );
}

/** Narrows to one model, provider, customer or label. */
function NarrowForm({ change }: Pick<Finance, 'change'>) {
  const [name, setName] = useState<keyof typeof FILTERS>('model');
  const [value, setValue] = useState('');
  const wanted = value.trim();
  const isRight = wanted !== '' && (name !== 'label' || /^[^=]+=./.test(wanted));
  return (
    <Form
      className="flex flex-wrap items-center gap-1"
      onSubmit={() => {
        if (!isRight) return;
        change({ [name]: wanted });
        setValue('');
      }}
    >
      <Select
        aria-label="Filter by"
        className="w-28"
        options={FILTERS}
        value={name}
        onValue={(chosen) => setName(chosen as keyof typeof FILTERS)}
      />
      <Input
        aria-label="Filter value"
        className="w-36!"
        placeholder={name === 'label' ? 'env=prod' : 'exact value'}
        value={value}
        onValue={setValue}
      />
      <Button type="submit" disabled={!isRight}>
        Add filter
      </Button>
    </Form>
  );
}
