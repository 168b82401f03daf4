import { Link } from '@tanstack/react-router';
import { useUnpriced } from '../../api/models';
import { formatCount } from '../../format/format-number';
import { formatTarget } from '../../format/format-target';
import { Warning } from '../../ui/icons';

/** Models with answers but without a price. */
export function UnpricedBanner() {
  const { data } = useUnpriced();
  const models = data?.data ?? [];
  if (models.length === 0) return null;
  const requests = models.reduce((sum, model) => sum + model.requests, 0);
  return (
    <div className="flex flex-wrap items-center gap-2 rounded-md bg-warn-soft px-3 py-2 text-warn">
      <Warning className="shrink-0" />
      <span>
        {formatCount(requests)} requests of the last 7 days went to{' '}
        {models.length === 1 ? 'a model' : `${models.length} models`} without a price:{' '}
        {models.slice(0, 3).map(formatTarget).join(', ')}
        {models.length > 3 && ' and others'}. They are recorded at $0.
      </span>
      <Link to="/models" className="touch-line underline">
        Set prices
      </Link>
    </div>
  );
}
