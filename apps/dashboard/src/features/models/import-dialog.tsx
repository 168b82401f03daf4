import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type ModelInput, putModel } from '../../api/models';
import { formatCount } from '../../format/format-number';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { ErrorState } from '../../ui/error-state';
import { Input, SelectField } from '../../ui/field';
import { useToast } from '../../ui/toast';
import { type PriceImport, readPriceMap } from './prepare-prices';

/** Reads a price map, shows what is in it, and sets the prices of one provider (or of all). */
export function ImportDialog({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient();
  const toast = useToast();
  const [prices, setPrices] = useState<readonly PriceImport[]>([]);
  const [skipped, setSkipped] = useState(0);
  const [provider, setProvider] = useState('');
  const [done, setDone] = useState<number | null>(null);
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
  const run = async () => {
    setError(null);
    try {
      for (const [index, { provider: of, model, body }] of chosen.entries()) {
        setDone(index);
        await putModel({ provider: of, model }, body as unknown as ModelInput);
      }
      toast(`${chosen.length} prices hold from the next request on`);
      onClose();
    } catch (cause) {
      setError(cause instanceof Error ? cause : new Error(String(cause)));
    } finally {
      setDone(null);
      await client.invalidateQueries({ queryKey: ['models'] });
    }
  };
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
        {error !== null && <ErrorState error={error} />}
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
            <p className="text-muted">
              {formatCount(chosen.length)} prices would be set. {formatCount(skipped)} entries have none for input and
              output, and are left out.
            </p>
            <div className="flex justify-end">
              <Button kind="primary" disabled={done !== null} onClick={() => void run()}>
                {done === null ? 'Set these prices' : `Setting ${done + 1} of ${chosen.length}`}
              </Button>
            </div>
          </>
        )}
      </div>
    </Dialog>
  );
}
