import { useUnpriced } from '../../api/models';
import { countOf } from '../../format/format-number';
import { formatTarget } from '../../format/format-target';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';

interface Props {
  readonly onPrice: (at: { provider: string; model: string }) => void;
}

/** Models that answered without a price, for one to be set. */
export function UnpricedCard({ onPrice }: Props) {
  const { data } = useUnpriced();
  if (data === undefined || data.data.length === 0) return null;
  return (
    <Card title="Models without a price" className="border-warn">
      <p className="mb-2 text-muted">These models answered requests in the last 7 days, recorded at $0.</p>
      <ul className="grid gap-1">
        {data.data.map(({ provider, model, requests }) => (
          <li key={`${provider} ${model}`} className="flex items-center justify-between gap-3">
            <span className="truncate">{formatTarget({ provider, model })}</span>
            <span className="flex shrink-0 items-center gap-3">
              <span className="nums text-muted">{countOf(requests, 'request')}</span>
              <Button size="small" onClick={() => onPrice({ provider, model })}>
                Set price
              </Button>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
