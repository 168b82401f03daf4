import { useMemo } from 'react';
import { Bubbles } from '../../charts/bubbles/bubbles';
import { prepareBubbles } from '../../charts/bubbles/prepare-bubbles';
import { colorOf } from '../../charts/series-colors';
import { SeriesName } from '../../charts/series-name';
import { formatCount, formatEstimate, formatShare } from '../../format/format-number';
import { namesOfModels } from '../../format/format-target';
import { formatUsd } from '../../format/format-usd';
import { useShowRequests } from '../../range/use-show-requests';
import { Card } from '../../ui/card';
import { FiguresTable } from '../../ui/table/figures-table';
import { describePoint, isMeasured, type MeasuredLine, type ModelLine, toPoint } from './prepare-models';

/** Height of the picture with its axes and a line of names. */
const RESERVED = 'min-h-82';
const SHOWN = 30;

/** Price and speed of the models in use: cheap to the left, fast below. */
export function BubblesCard({ lines }: { readonly lines: readonly ModelLine[] | undefined }) {
  const drawn = useMemo(() => lines?.filter(isMeasured).slice(0, SHOWN), [lines]);
  return (
    <Card title="Price and speed of models in use">
      <p className="text-muted">
        Cheap is left, fast is at the bottom. The larger the circle, the more requests. Prices are those paid in the
        range.
      </p>
      <div className={RESERVED}>
        {drawn === undefined && <div className={`rounded bg-hover/60 ${RESERVED}`} aria-busy="true" />}
        {drawn?.length === 0 && (
          <p className={`flex items-center justify-center text-center text-muted ${RESERVED}`}>
            No model answered in this range. Choose a longer one, or send a request.
          </p>
        )}
        {drawn !== undefined && drawn.length > 0 && <Picture lines={drawn} />}
      </div>
    </Card>
  );
}

const HEADS = ['Model', 'Paid per 1M tokens', 'Upstream p95', 'Requests', 'Share of requests'];

function Picture({ lines }: { readonly lines: readonly MeasuredLine[] }) {
  const showRequests = useShowRequests();
  const byName = useMemo(() => {
    const nameOf = namesOfModels(lines);
    return new Map(lines.map((line) => [nameOf(line), line]));
  }, [lines]);
  const chart = useMemo(() => prepareBubbles([...byName].map(([name, line]) => toPoint(name, line))), [byName]);
  const modelOf = (name: string) => byName.get(name)?.model ?? name;
  const describe = (name: string) => {
    const line = byName.get(name);
    return line === undefined ? name : describePoint(name, line);
  };
  return (
    <>
      <Bubbles
        label="Price and speed of models"
        chart={chart}
        x={{ title: 'Paid per 1M tokens', unit: 'usd' }}
        y={{ title: 'Upstream p95', unit: 'percentile' }}
        colorOf={(name) => colorOf(modelOf(name))}
        describe={describe}
        opens="its requests"
        onSelect={(name) => showRequests({ answering_model: modelOf(name), provider: byName.get(name)?.provider })}
      />
      {/* Names without room beside their circles; a small screen has room for none. */}
      <ul className="flex flex-wrap gap-x-3 gap-y-1 text-xs" aria-hidden="true">
        {chart.bubbles.map(({ name, nameAt }) => (
          <li key={name} className={`min-w-0 ${nameAt === null ? '' : 'lg:hidden'}`}>
            <SeriesName name={modelOf(name)} label={name} />
          </li>
        ))}
      </ul>
      <FiguresTable
        caption="Price and speed in figures"
        heads={HEADS}
        rows={[...byName].map(([name, { use }]) => ({ key: name, cells: [name, ...cellsOf(use)] }))}
      />
    </>
  );
}

const cellsOf = ({ paidUsd, p95Ms, requests, share }: MeasuredLine['use']): readonly string[] => [
  ...[formatUsd(paidUsd), formatEstimate(p95Ms), formatCount(requests), formatShare(share)],
];
