import { MODES } from '@llm0/core/pricing/price-book';
import type { ReactNode } from 'react';
import { useChange } from '../../api/change';
import { ApiError } from '../../api/client';
import { changeModel, findModel, type Model, type ModelInput, putModel } from '../../api/models';
import { formatTarget } from '../../format/format-target';
import type { DialogOf } from '../../ui/dialog';
import type { FieldSpec } from '../forms/prepare-form';
import { type Edit, SpecDialog } from '../forms/spec-form';
import { ProviderField, ProviderModelField } from '../forms/suggested-fields';
import { describeSource } from './prepare-prices';

const MODE_OPTIONS = Object.fromEntries(MODES.map((mode) => [mode, mode]));
const PRICE_FIELDS: readonly FieldSpec[] = [
  { name: 'input_usd_per_million', label: 'Input, USD / 1M', kind: 'usd' },
  { name: 'output_usd_per_million', label: 'Output, USD / 1M', kind: 'usd' },
  { name: 'cache_read_usd_per_million', label: 'Cache reads', kind: 'usd', placeholder: 'same as input' },
  { name: 'cache_write_usd_per_million', label: 'Cache writes', kind: 'usd', placeholder: 'same as input' },
  { name: 'reasoning_usd_per_million', label: 'Reasoning', kind: 'usd', placeholder: 'same as output' },
  { name: 'context_window', label: 'Context window, tokens', kind: 'integer' },
  { name: 'max_output_tokens', label: 'Maximum output, tokens', kind: 'integer' },
  {
    name: 'mode',
    label: 'Kind',
    kind: 'text',
    required: true,
    options: MODE_OPTIONS,
    section: 'Images, audio and more',
  },
  { name: 'input_image_usd_per_million', label: 'Image input, USD / 1M', kind: 'usd', placeholder: 'same as input' },
  { name: 'output_image_usd_per_million', label: 'Image output, USD / 1M', kind: 'usd', placeholder: 'same as output' },
  { name: 'input_audio_usd_per_million', label: 'Audio input, USD / 1M', kind: 'usd', placeholder: 'same as input' },
  { name: 'output_audio_usd_per_million', label: 'Audio output, USD / 1M', kind: 'usd', placeholder: 'same as output' },
  { name: 'cache_read_audio_usd_per_million', label: 'Cached audio, USD / 1M', kind: 'usd', isMore: true },
  { name: 'cache_read_image_usd_per_million', label: 'Cached images, USD / 1M', kind: 'usd', isMore: true },
  { name: 'image_usd', label: 'Image, USD', kind: 'usd', isMore: true },
  { name: 'second_usd', label: 'Second of audio, USD', kind: 'number', isMore: true },
  { name: 'minute_usd', label: 'Minute of audio, USD', kind: 'number', isMore: true },
  { name: 'character_usd_per_million', label: 'Characters, USD / 1M', kind: 'usd', isMore: true },
  { name: 'page_usd', label: 'Page, USD', kind: 'usd', isMore: true },
  { name: 'search_usd', label: 'Search, USD', kind: 'usd', isMore: true },
  { name: 'session_second_usd', label: 'Second of a session, USD', kind: 'number', isMore: true },
  { name: 'batch_discount', label: 'Batch discount', kind: 'number', placeholder: '0.5', isMore: true },
];
const NAME_FIELDS: readonly FieldSpec[] = [
  { name: 'provider', label: 'Provider', kind: 'text', required: true, widget: ProviderField },
  { name: 'model', label: 'Model', kind: 'text', required: true, widget: ProviderModelField },
];

export interface Editing {
  /** null: the user enters it. */
  readonly at: { readonly provider: string; readonly model: string } | null;
  /** null without a price. */
  readonly model: Model | null;
}

interface Saved {
  readonly body: Record<string, unknown>;
  readonly edit: Edit;
}

interface Props extends DialogOf<Editing> {
  /** Beside the prices. */
  readonly children?: ReactNode;
}

/** The price of one model, whether it has one or not. */
export function PriceDialog({ of: { at, model }, onClose, children }: Props) {
  const save = useChange({
    run: ({ body: { provider, model: name, ...prices }, edit }: Saved) =>
      at !== null && model !== null
        ? changeModel(at, edit)
        : at === null
          ? createPrice({ provider: String(provider), model: String(name) }, prices as unknown as ModelInput)
          : putModel(at, prices as unknown as ModelInput),
    affects: [['models']],
    done: 'Price saved. It applies from the next request.',
  });
  return (
    <SpecDialog
      title={at === null ? 'Price a model' : formatTarget(at)}
      description={model === null ? undefined : describeSource(model)}
      onClose={onClose}
      specs={at === null ? [...NAME_FIELDS, ...PRICE_FIELDS] : PRICE_FIELDS}
      resource={model ?? { ...at, mode: 'chat' }}
      submitLabel="Save price"
      change={save}
      beside={children === undefined ? undefined : () => children}
      onSubmit={(body, edit) => save.mutate({ body, edit }, { onSuccess: onClose })}
    />
  );
}

/** Sets a price unless there is one: PUT would overwrite it, managed or not. */
async function createPrice(at: NonNullable<Editing['at']>, prices: ModelInput) {
  if ((await findModel(at)) === null) return putModel(at, prices);
  const message = 'model: This model has a price. Open it in the list to change it.';
  throw new ApiError(message, 409, 'conflict', 'model');
}
