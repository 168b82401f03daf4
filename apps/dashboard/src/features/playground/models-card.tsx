import { useState } from 'react';
import { formatCount } from '../../format/format-number';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { Combobox } from '../../ui/combobox/combobox';
import { Close, Plus } from '../../ui/icons';
import { MOST_MODELS } from './draft';
import { prepareSupport } from './prepare-support';
import type { CallableModel } from './send-chat';
import type { Playground } from './use-playground';

/** One to four models or aliases, of those that the key may use. */
export function ModelsCard({ playground }: { readonly playground: Playground }) {
  const { draft, store, models, example } = playground;
  /** Field that was just added: one goes on there. */
  const [added, setAdded] = useState<number | null>(null);
  const add = () => {
    setAdded(draft.models.length);
    store.change({ models: [...draft.models, ''] });
  };
  const put = (index: number, model: string) => store.change({ models: draft.models.with(index, model) });
  const choices = aliasesFirst(models.data ?? []).map((model) => ({
    value: model.id,
    note: detailOf(model),
  }));
  const notes = prepareSupport(draft, models.data ?? [], example);
  return (
    <Card title={draft.models.length === 1 ? 'Model' : `${draft.models.length} models, side by side`}>
      <div className="grid gap-2">
        {draft.models.map((model, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same model may be asked twice
          <div key={index} className="flex items-center gap-1.5">
            <Combobox
              aria-label={index === 0 ? 'Model' : `Model ${index + 1}`}
              className="min-w-0 flex-1"
              value={model}
              choices={choices}
              placeholder={index === 0 ? example : 'Choose a model'}
              autoFocus={index === added}
              takesFirst
              emptyNote={models.data === undefined ? 'Choose a key to see its models' : 'Not available to this key'}
              onValue={(name) => put(index, name)}
            />
            {draft.models.length > 1 && (
              <Button
                kind="ghost"
                size="small"
                aria-label={`Remove model ${index + 1}`}
                onClick={() => store.change({ models: draft.models.toSpliced(index, 1) })}
              >
                <Close />
              </Button>
            )}
          </div>
        ))}
        <div className="flex flex-wrap items-center justify-between gap-2">
          <Button size="small" disabled={draft.models.length >= MOST_MODELS} onClick={add}>
            <Plus /> Compare with another model
          </Button>
          {models.data !== undefined && (
            <span className="text-xs text-muted">{formatCount(models.data.length)} available to this key</span>
          )}
        </div>
        {notes.map((note) => (
          <p key={note} className="text-xs text-warn wrap-anywhere">
            {note}
          </p>
        ))}
      </div>
    </Card>
  );
}

/** The operator's aliases come before providers' models. */
const aliasesFirst = (models: readonly CallableModel[]): readonly CallableModel[] => [
  ...models.filter(({ targets }) => targets !== undefined),
  ...models.filter(({ targets }) => targets === undefined),
];

function detailOf({ owned_by: owner, context_window: window, targets }: CallableModel): string {
  if (targets !== undefined) return `alias for ${targets.join(', ')}`;
  return window === undefined ? owner : `${owner}, ${formatCount(Math.round(window / 1000))}K context`;
}
