import { useMemo } from 'react';
import { useModels } from '../../api/models';
import { useProviders } from '../../api/routing';
import type { Route } from '../../charts/route/prepare-route';
import { RouteView } from '../../charts/route/route-view';

interface Props {
  readonly route: Route;
  readonly notes?: readonly string[];
}

/** The route that a form describes, beside it. */
export const RoutePicture = ({ route, notes = [] }: Props) => (
  <div className="min-w-0">
    <RouteView label="Route" route={route} />
    {notes.map((note) => (
      <p key={note} className="mt-1 text-xs text-muted">
        {note}
      </p>
    ))}
  </div>
);

/** True for providers that are set up, and for those that are not known yet. */
export function useIsSetUp(): (provider: string) => boolean {
  const { data } = useProviders();
  return (provider) => data?.data.find(({ name }) => name === provider)?.is_configured !== false;
}

/** True for models with a price, and for all while the price list or their provider is not known. */
export function useIsPriced(): (provider: string, model: string) => boolean {
  const { data: models } = useModels();
  const { data: providers } = useProviders();
  return useMemo(() => {
    const priced = new Set(models?.map(({ provider, model }) => `${provider}/${model}`));
    const free = new Map(providers?.data.map(({ name, is_free: isFree }) => [name, isFree]));
    return (provider, model) =>
      models === undefined || free.get(provider) !== false || priced.has(`${provider}/${model}`);
  }, [models, providers]);
}
