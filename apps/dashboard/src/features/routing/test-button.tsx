import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import type { ProviderTest } from '../../api/routing';
import { formatMs } from '../../format/format-number';
import { Button } from '../../ui/button';

/** Asks a provider for its models, which is free. */
export function TestButton({ name }: { readonly name: string }) {
  const [result, setResult] = useState<ProviderTest | null>(null);
  const test = useChange({
    run: () => read(api.providers[':name'].test.$post({ param: { name }, json: {} })),
    affects: [],
  });
  return (
    <span className="inline-flex flex-wrap items-center gap-2">
      {result !== null && (
        <span className={result.ok ? 'text-good' : 'text-bad'}>
          {result.ok ? `Answered in ${formatMs(result.latency_ms)}` : (result.error?.message ?? 'The test failed.')}
        </span>
      )}
      {test.error && <span className="text-bad">{test.error.message}</span>}
      <Button disabled={test.isPending} onClick={() => test.mutate(undefined, { onSuccess: setResult })}>
        {test.isPending ? 'Testing…' : 'Test connection'}
      </Button>
    </span>
  );
}
