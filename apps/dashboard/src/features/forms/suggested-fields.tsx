import { useMemo } from 'react';
import { type ListedModel, useModels } from '../../api/models';
import { useAliases, useProviders } from '../../api/routing';
import type { Choice } from '../../ui/combobox/combobox';
import { ComboboxField, ComboboxListField } from '../../ui/combobox/combobox-field';
import type { WidgetProps } from './prepare-form';

/** All providers that are known or were added, those that can be asked first. */
export function useProviderChoices(): readonly Choice[] {
  const { data } = useProviders();
  return useMemo(
    () =>
      (data?.data ?? [])
        .toSorted((a, b) => Number(b.is_configured) - Number(a.is_configured))
        .map(({ name, is_configured: isConfigured }) => ({
          value: name,
          note: isConfigured ? undefined : 'not set up',
        })),
    [data],
  );
}

/** Models with a price; of one provider if given. */
export function useModelChoices(provider?: string): readonly Choice[] {
  const { data } = useModels();
  return useMemo(() => modelChoices(data ?? [], provider), [data, provider]);
}

export function modelChoices(models: readonly ListedModel[], provider?: string): readonly Choice[] {
  const byName = new Map<string, string[]>();
  for (const one of models) {
    if (provider !== undefined && provider !== '' && one.provider !== provider) continue;
    byName.set(one.model, [...(byName.get(one.model) ?? []), one.provider]);
  }
  return [...byName].map(([value, providers]) => ({
    value,
    note: provider ? undefined : `${providers[0]}${providers.length > 1 ? ` and ${providers.length - 1} more` : ''}`,
  }));
}

/** Callable names: aliases, then models. */
function useAskedChoices(): readonly Choice[] {
  const { data: aliases } = useAliases();
  const models = useModelChoices();
  return useMemo(() => {
    const names = [...new Set((aliases?.data ?? []).map(({ alias }) => alias))];
    return [
      ...names.map((value) => ({ value, note: 'alias' })),
      ...models.filter(({ value }) => !names.includes(value)),
    ];
  }, [aliases, models]);
}

/** A warning for unknown names; none while the list loads or for patterns. */
export function warnOf(names: readonly string[], choices: readonly Choice[], what: string): string | undefined {
  if (choices.length === 0) return undefined;
  const known = new Set(choices.map(({ value }) => value));
  const bare = (name: string) => name.slice(name.indexOf('/') + 1);
  const unknown = names.filter((name) => !name.includes('*') && !known.has(name) && !known.has(bare(name)));
  if (unknown.length === 0) return undefined;
  return `${unknown.map((name) => `"${name}"`).join(', ')}: ${what}`;
}

const NO_PRICE = 'not in the price list. You can still save it, but check the spelling.';
const NOT_THERE = 'no such provider yet. You can still save it, but check the spelling.';

const split = (value: string) => value.split(/[\s,]+/).filter((name) => name !== '');
const one = (value: string) => (value.trim() === '' ? [] : [value.trim()]);

/** A model that clients may ask for. */
export function ModelField({ hint, ...props }: WidgetProps) {
  const choices = useAskedChoices();
  return <ComboboxField {...props} choices={choices} hint={warnOf(one(props.value), choices, NO_PRICE) ?? hint} />;
}

export function ModelsField({ hint, ...props }: WidgetProps) {
  const choices = useAskedChoices();
  return (
    <ComboboxListField {...props} choices={choices} hint={warnOf(split(props.value), choices, NO_PRICE) ?? hint} />
  );
}

export function ProviderField({ hint, ...props }: WidgetProps) {
  const choices = useProviderChoices();
  return <ComboboxField {...props} choices={choices} hint={warnOf(one(props.value), choices, NOT_THERE) ?? hint} />;
}

/** Providers with native APIs enabled; includes a choice for none if there is one. */
export function ProvidersField({ hint, emptyList, ...props }: WidgetProps) {
  const providers = useProviderChoices();
  const choices =
    emptyList === undefined ? providers : [...providers, { value: emptyList, note: 'overrides the project' }];
  return (
    <ComboboxListField {...props} choices={choices} hint={warnOf(split(props.value), choices, NOT_THERE) ?? hint} />
  );
}

/** The name of a model at a provider, which is another field of the form. */
export function ProviderModelField({ hint, values, ...props }: WidgetProps) {
  const choices = useModelChoices(String(values.provider ?? ''));
  return <ComboboxField {...props} choices={choices} hint={hint} />;
}

/** A vendor to set up, or a name of one's own: then it needs an address. */
export function ProviderNameField({ hint, ...props }: WidgetProps) {
  const choices = useProviderChoices();
  const name = props.value.trim();
  const isOwn = name !== '' && choices.length > 0 && !choices.some(({ value }) => value === name);
  const said = isOwn ? 'Not a known vendor. It needs a base URL and an OpenAI-compatible API.' : hint;
  return <ComboboxField {...props} choices={choices.filter(({ note }) => note !== undefined)} hint={said} />;
}
