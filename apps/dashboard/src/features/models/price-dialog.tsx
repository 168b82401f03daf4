import { useChange } from '../../api/change';
import { type Model, type ModelInput, putModel } from '../../api/models';
import type { DialogOf } from '../../ui/dialog';
import type { FieldSpec } from '../forms/prepare-form';
import { SpecDialog } from '../forms/spec-form';

const PRICE_FIELDS: readonly FieldSpec[] = [
  { name: 'input_usd_per_million', label: 'Input, USD / 1M', kind: 'usd', required: true },
  { name: 'output_usd_per_million', label: 'Output, USD / 1M', kind: 'usd' },
  { name: 'cache_read_usd_per_million', label: 'Read from their cache', kind: 'usd', placeholder: 'as input' },
  { name: 'cache_write_usd_per_million', label: 'Written to their cache', kind: 'usd', placeholder: 'as input' },
  { name: 'reasoning_usd_per_million', label: 'Reasoning', kind: 'usd', placeholder: 'as output' },
  { name: 'context_window', label: 'Context, tokens', kind: 'integer' },
  { name: 'max_output_tokens', label: 'Output at most, tokens', kind: 'integer' },
];
const NAME_FIELDS: readonly FieldSpec[] = [
  { name: 'provider', label: 'Provider', kind: 'text', required: true },
  { name: 'model', label: 'Model', kind: 'text', required: true },
];

export interface Editing {
  /** null: to be given. */
  readonly at: { readonly provider: string; readonly model: string } | null;
  /** null: it has no price yet. */
  readonly model: Model | null;
}

/** The price of one model, whether it has one or not. */
export function PriceDialog({ of: { at, model }, onClose }: DialogOf<Editing>) {
  const save = useChange({
    run: ({ provider, model: name, ...prices }: Record<string, unknown>) =>
      putModel(at ?? { provider: String(provider), model: String(name) }, prices as unknown as ModelInput),
    affects: [['models']],
    done: 'The price holds from the next request on',
  });
  const name = at === null ? {} : { provider: at.provider, model: at.model };
  return (
    <SpecDialog
      title={at === null ? 'Price a model' : `${at.provider} / ${at.model}`}
      description={model === null ? undefined : sourceOf(model)}
      onClose={onClose}
      specs={at === null ? [...NAME_FIELDS, ...PRICE_FIELDS] : PRICE_FIELDS}
      resource={model ?? at}
      submitLabel="Save price"
      change={save}
      onSubmit={(body) => save.mutate({ ...keptPrices(model), ...name, ...body }, { onSuccess: onClose })}
    />
  );
}

const sourceOf = (model: Model) =>
  model.edited ? 'Set by an operator' : `As shipped, from ${model.source ?? 'the catalogue'}`;

/** Prices are replaced as a whole: classes and variants the form does not show stay as they are. */
function keptPrices(model: Model | null): Record<string, unknown> {
  const shown = new Set(PRICE_FIELDS.map(({ name }) => name));
  return Object.fromEntries(
    Object.entries(model ?? {}).filter(
      ([name, value]) => name.endsWith('_usd_per_million') && !shown.has(name) && value !== null,
    ),
  );
}
