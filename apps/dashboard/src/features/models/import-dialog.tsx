import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useChange } from '../../api/change';
import { importModels } from '../../api/models';
import { formatCount } from '../../format/format-number';
import { formatTarget } from '../../format/format-target';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Failure } from '../../ui/error-state';
import { Input, SelectField } from '../../ui/form';
import { useManagedSet } from '../forms/managed-set';
import { describeImport, describeLost, type PriceMap, readPriceMap, toImport } from './prepare-prices';

/** Reads a price map, previews it, and sets the prices of one provider or all. */
export function ImportDialog({ onClose }: { readonly onClose: () => void }) {
  const [map, setMap] = useState<PriceMap>({ prices: [], lost: [] });
  const [error, setError] = useState<Error | null>(null);
  const readFile = async (file: File | undefined) => {
    if (file === undefined) return;
    setError(null);
    try {
      setMap(readPriceMap(await file.text()));
    } catch (cause) {
      setError(cause instanceof Error ? cause : new Error(String(cause)));
    }
  };
  return (
    <Dialog
      title="Import prices"
      description="A JSON file that maps model names to prices per token, such as LiteLLM's model_prices_and_context_window.json."
      onClose={onClose}
      sticky
    >
      <div className="grid gap-3">
        <Input
          type="file"
          accept="application/json,.json"
          aria-label="Price map"
          className="py-1"
          onChange={(event) => void readFile(event.target.files?.[0])}
        />
        <Prices map={map} fileError={error} onDone={onClose} />
      </div>
    </Dialog>
  );
}

/** A map may have thousands. */
const MOST_SHOWN = 200;

function Lost({ map }: { readonly map: PriceMap }) {
  const heading = describeLost(map);
  if (heading === null) return null;
  const more = map.lost.length - MOST_SHOWN;
  return (
    <details className="text-muted">
      <summary className="cursor-pointer">{heading}</summary>
      <ul className="mt-1 max-h-40 overflow-y-auto">
        {map.lost.slice(0, MOST_SHOWN).map(({ model, why }) => (
          <li key={model} className="wrap-anywhere">
            <span className="text-text">{model}</span> {why}
          </li>
        ))}
        {more > 0 && <li>and {formatCount(more)} more</li>}
      </ul>
    </details>
  );
}

interface PricesProps {
  readonly map: PriceMap;
  readonly fileError: Error | null;
  readonly onDone: () => void;
}

/** Compares the map's prices with the current ones. */
function Prices({ map, fileError, onDone }: PricesProps) {
  const [provider, setProvider] = useState('');
  const providers = [...new Set(map.prices.map((price) => price.provider))].sort();
  const given = useMemo(() => toImport(map, provider), [map, provider]);
  const { free: models, note } = useManagedSet({
    ...{ resource: 'model', noun: 'price', of: given },
    ...{ idOf: formatTarget, nameOf: formatTarget },
  });
  const check = useQuery({
    queryKey: ['models', 'import', map.prices, provider, models.length],
    queryFn: () => importModels({ models: [...models], dry_run: true }),
    enabled: models.length > 0,
  });
  const run = useChange({
    run: () => importModels({ models: [...models] }),
    affects: [['models']],
    done: ({ created, updated }) => `${formatCount(created + updated)} prices set. They apply from the next request.`,
  });
  const changes = (check.data?.created ?? 0) + (check.data?.updated ?? 0);
  return (
    <>
      <Failure of={{ error: fileError ?? check.error ?? run.error }} />
      {map.prices.length > 0 && (
        <>
          <SelectField
            label="Import prices from"
            anyLabel={`every provider (${formatCount(map.prices.length)} models)`}
            options={providers}
            value={provider}
            onValue={setProvider}
          />
          {note}
          <p className="min-h-5 text-muted">{describeImport(check.data)}</p>
          <Lost map={map} />
          <div className="flex justify-end">
            <Button
              kind="primary"
              disabled={changes === 0 || run.isPending}
              onClick={() => run.mutate(undefined, { onSuccess: onDone })}
            >
              {run.isPending ? 'Setting…' : `Set ${formatCount(changes)} prices`}
            </Button>
          </div>
        </>
      )}
    </>
  );
}
