import { useKeyNames } from '../../api/projects';
import { outcomeLabel } from '../../format/outcome-labels';
import { Button } from '../../ui/button';
import { Select } from '../../ui/form';
import { Close } from '../../ui/icons';
import { type Chip, fieldOf, takesMany } from './prepare-filters';
import { ValuePicker } from './value-picker';

interface Props {
  readonly chip: Chip;
  readonly projectId: string | undefined;
  readonly onChange: (chip: Chip) => void;
  readonly onDone: () => void;
}

const OPERATORS = { is: 'is', not: 'is not' } as const;

/** Edits one filter: the operator and its values. A choice applies at once. */
export function FilterEditor({ chip, projectId, onChange, onDone }: Props) {
  const { field, isNot, values } = chip;
  const nameOf = useValueNames(chip);
  const { label } = fieldOf(field);
  const toggle = (value: string) => {
    const others = values.filter((one) => one !== value);
    const isGone = others.length < values.length;
    const next = isGone ? others : takesMany(field) ? [...values, value] : [value];
    onChange({ ...chip, values: next });
    if (!takesMany(field) && !isGone) onDone();
  };
  return (
    <div className="grid gap-2">
      <div className="flex items-center justify-between gap-2">
        <span className="text-xs font-semibold">{label}</span>
        {takesMany(field) && (
          <Select
            aria-label={`${label}: is or is not`}
            className="w-24"
            options={OPERATORS}
            value={isNot ? 'not' : 'is'}
            onValue={(value) => onChange({ ...chip, isNot: value === 'not' })}
          />
        )}
      </div>
      {values.length > 0 && (
        <ul className="flex flex-wrap gap-1">
          {values.map((value) => (
            <li key={value} className="inline-flex max-w-full items-center rounded bg-hover pl-1.5 text-xs">
              <span className="truncate">{nameOf(value)}</span>
              <button
                type="button"
                aria-label={`Remove ${nameOf(value)}`}
                className="rounded p-1 hover:text-text"
                onClick={() => toggle(value)}
              >
                <Close width="10" height="10" />
              </button>
            </li>
          ))}
        </ul>
      )}
      <ValuePicker {...{ field, values, projectId }} onToggle={toggle} />
      <div className="flex justify-end">
        <Button size="small" onClick={onDone}>
          Done
        </Button>
      </div>
    </div>
  );
}

/** Keys are shown by their names. */
export function useValueNames({ field, values }: Pick<Chip, 'field' | 'values'>): (value: string) => string {
  const keyName = useKeyNames(field === 'api_key_id' ? values : []);
  if (field === 'api_key_id') return keyName;
  return (value) => (fieldOf(field).values === undefined ? value : outcomeLabel(value));
}
