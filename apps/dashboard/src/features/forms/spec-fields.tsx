import { Fragment, useEffect, useId, useState } from 'react';
import { CheckField, SelectField, TextArea, TextField } from '../../ui/form';
import { Chevron } from '../../ui/icons';
import { type FieldKind, type FieldSpec, type FormValues, foldFields, isSet, readBack } from './prepare-form';

interface Props {
  readonly specs: readonly FieldSpec[];
  readonly values: FormValues;
  readonly errorOf: (name: string) => string | null;
  readonly onValue: (spec: FieldSpec, value: string | boolean) => void;
  readonly disabled: boolean;
}

const GRID = 'grid gap-3 sm:grid-cols-2';

/** Fields in two columns, with headings of sections; rarely used ones under "More". */
export function SpecFields({ specs, ...form }: Props) {
  const { main, more } = foldFields(specs);
  return (
    <>
      <fieldset className={GRID} disabled={form.disabled}>
        {main.map((spec, index) => (
          <Fragment key={spec.name}>
            {spec.section !== undefined && spec.section !== main[index - 1]?.section && (
              <h3 className="mt-2 border-t pt-3 font-semibold sm:col-span-2">{spec.section}</h3>
            )}
            <SpecField spec={spec} {...form} />
          </Fragment>
        ))}
      </fieldset>
      {more.length > 0 && <MoreFields specs={more} {...form} />}
    </>
  );
}

/** Open at first if one of them has a value; opens by itself for an error. */
function MoreFields({ specs, ...form }: Props) {
  const id = useId();
  const [isOpen, setIsOpen] = useState(() => specs.some((spec) => isSet(spec, form.values)));
  const isWrong = specs.some(({ name }) => form.errorOf(name) !== null);
  useEffect(() => {
    if (isWrong) setIsOpen(true);
  }, [isWrong]);
  const isShown = isOpen || isWrong;
  return (
    <div className="border-t pt-2">
      <div className="flex min-w-0 items-center gap-2">
        <button
          type="button"
          aria-expanded={isShown}
          aria-controls={isShown ? id : undefined}
          aria-describedby={`${id}-names`}
          className="flex items-center gap-1 rounded py-1 font-medium"
          onClick={() => setIsOpen(!isShown)}
        >
          <Chevron className={isShown ? '' : '-rotate-90'} />
          More
        </button>
        <span id={`${id}-names`} className="truncate text-xs text-muted">
          {specs.map(({ label }) => label).join(', ')}
        </span>
      </div>
      {isShown && (
        <fieldset id={id} className={`${GRID} mt-2`} disabled={form.disabled}>
          {specs.map((spec) => (
            <SpecField key={spec.name} spec={spec} {...form} />
          ))}
        </fieldset>
      )}
    </div>
  );
}

interface FieldProps extends Omit<Props, 'specs' | 'disabled'> {
  readonly spec: FieldSpec;
}

const INPUT_MODES: Partial<Record<FieldKind, 'decimal' | 'numeric'>> = {
  usd: 'decimal',
  number: 'decimal',
  integer: 'numeric',
};

function SpecField({ spec, values, errorOf, onValue: change }: FieldProps) {
  const { name, label, kind, hint, placeholder, options, rows, required, widget: Widget, emptyList } = spec;
  const value = values[name] ?? '';
  const onValue = (next: string | boolean) => change(spec, next);
  if (typeof value === 'boolean') {
    return (
      <div className="sm:col-span-2">
        <CheckField label={label} hint={hint} checked={value} onValue={onValue} />
      </div>
    );
  }
  const understood = readBack(spec, values);
  const note = understood === null ? hint : `= ${understood}`;
  const shared = { label, hint: note, error: errorOf(name), value, name, required, onValue };
  if (Widget !== undefined) {
    return (
      <div className={spec.isWide ? 'sm:col-span-2' : 'min-w-0'}>
        <Widget {...shared} {...{ values, placeholder, emptyList }} />
      </div>
    );
  }
  if (rows !== undefined) {
    return (
      <div className="sm:col-span-2">
        <TextArea {...shared} rows={rows} spellCheck={false} className="font-mono text-xs" />
      </div>
    );
  }
  if (options !== undefined) return <SelectField {...shared} options={options} />;
  return (
    <div className={spec.isWide ? 'min-w-0 sm:col-span-2' : 'min-w-0'}>
      <TextField
        {...shared}
        placeholder={placeholder ?? (required ? undefined : 'none')}
        type={spec.secret ? 'password' : kind === 'instant' ? 'datetime-local' : 'text'}
        step={kind === 'instant' ? 'any' : undefined}
        inputMode={INPUT_MODES[kind]}
        autoComplete="off"
      />
    </div>
  );
}
