import { Link } from '@tanstack/react-router';
import { useRetiring } from '../../api/models';
import type { Page } from '../../range/use-page';
import { useNow } from '../../range/use-page';
import { Warning } from '../../ui/icons';
import { endOfNear, prepareRetirements } from './prepare-retirements';
import { useUsedModels } from './use-model-lines';

const SHOWN = 3;
const HOUR_MS = 3_600_000;

/** Models with traffic that soon answer no more. */
export function useRetirements(page: Page) {
  const used = useUsedModels(page);
  const nowMs = useNow(HOUR_MS);
  const models = useRetiring(endOfNear(nowMs));
  const retirements = prepareRetirements(models.data?.data ?? [], used.data?.buckets ?? [], nowMs);
  return { retirements, queries: [used, models] };
}

export function RetirementsBanner({ page }: { readonly page: Page }) {
  const { retirements } = useRetirements(page);
  if (retirements.length === 0) return null;
  const onlyOne = retirements.length === 1 ? retirements[0]?.target.replace('/', ' ') : undefined;
  return (
    <div role="status" className="flex gap-2 rounded-md bg-warn-soft px-3 py-2 text-warn">
      <Warning className="mt-0.5 shrink-0" />
      <span className="min-w-0 wrap-anywhere">
        {retirements
          .slice(0, SHOWN)
          .map(({ text }) => text)
          .join(', ')}
        {retirements.length > SHOWN && ` and ${retirements.length - SHOWN} more`}.{' '}
        <Link
          to="/models"
          search={({ range, from, to, tz, project }) => ({ range, from, to, tz, project, open: onlyOne })}
          className="touch-line underline"
        >
          Models
        </Link>
      </span>
    </div>
  );
}
