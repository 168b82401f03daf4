import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useChange } from '../../api/change';
import { importModels, type ModelImport } from '../../api/models';
import { formatCount } from '../../format/format-number';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { ErrorState } from '../../ui/error-state';
import { Input, SelectField } from '../../ui/field';
import { type PriceImport, readPriceMap } from './prepare-prices';

/** Reads a price map, shows what is in it, and sets the prices of one provider (or of all). */
export function ImportDialog({ onClose }: { readonly onClose: () => void }) {
  const [prices, setPrices] = useState<readonly PriceImport[]>([]);
  const [skipped, setSkipped] = useState(0);
  const [provider, setProvider] = useState('');
  const [error, setError] = useState<Error | null>(null);
  const chosen = prices.filter((price) => provider === '' || price.provider === provider);
  const providers = [...new Set(prices.map((price) => price.provider))].sort();
  const readFile = async (file: File | undefined) => {
    if (file === undefined) return;
    setError(null);
    try {
      const read = readPriceMap(await file.text());
      setPrices(read.prices);
      setSkipped(read.skipped);
    } catch (cause) {
      setError(cause instanceof Error ? cause : new Error(String(cause)));
    }
  };
  const models = chosen.map(({ provider: of, model, body }) => ({
    provider: of,
    model,
    ...body,
  })) as ModelImport['models'];
  const check = useQuery({
    queryKey: ['models', 'import', prices, provider],
    queryFn: () => importModels({ models, dry_run: true }),
    enabled: models.length > 0,
  });
  const run = useChange({
    run: () => importModels({ models }),
    affects: [['models']],
    done: ({ created, updated }) => `${formatCount(created + updated)} prices hold from the next request on`,
  });
  const changes = (check.data?.created ?? 0) + (check.data?.updated ?? 0);
  const failure = error ?? check.error ?? run.error;
  return (
    <Dialog
      title="Import prices"
      description="A JSON file that maps model names to prices per token, such as LiteLLM's model_prices_and_context_window.json."
      open
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
        {failure && <ErrorState error={failure} />}
        {prices.length > 0 && (
          <>
            <SelectField
              label="Take the prices of"
              value={provider}
              onChange={(event) => setProvider(event.target.value)}
            >
              <option value="">every provider ({formatCount(prices.length)} models)</option>
              {providers.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </SelectField>
            <p className="min-h-10 text-muted">
              {check.data === undefined
                ? 'Comparing with the prices in force'
                : `${formatCount(check.data.created)} new, ${formatCount(check.data.updated)} changed, ${formatCount(check.data.unchanged)} as they are. `}
              {check.data !== undefined &&
                `${formatCount(skipped)} entries of the file have no price for input and output, and are left out.`}
            </p>
            <div className="flex justify-end">
              <Button
                kind="primary"
                disabled={changes === 0 || run.isPending}
                onClick={() => run.mutate(undefined, { onSuccess: onClose })}
              >
                {run.isPending ? 'Setting' : `Set ${formatCount(changes)} prices`}
              </Button>
            </div>
          </>
        )}
      </div>
    </Dialog>
  );
}
