import type { ReactNode } from 'react';
import type { Model } from '../../api/models';
import { describeFailedShare } from '../../format/failed-share';
import { formatCount, formatEstimate, formatShare, NOTHING } from '../../format/format-number';
import { formatUsd } from '../../format/format-usd';
import { nameRange } from '../../range/name-range';
import type { Page } from '../../range/use-page';
import { requestsLink } from '../../range/use-show-requests';
import { Badge } from '../../ui/badge';
import { PlaceLink } from '../../ui/place-link';
import type { ModelLine, ModelUse } from './prepare-models';
import { describeEnd } from './prepare-prices';

interface Props {
  readonly model: Model;
  /** Undefined while it loads. */
  readonly line: ModelLine | undefined;
  readonly page: Page;
}

/** Use of a model in the page's range, with its requests, and its end. */
export function ModelFacts({ model: { provider, model, deprecation_date: ends }, line, page }: Props) {
  const filter = { answering_model: model, provider, open: undefined };
  return (
    <section className="grid content-start gap-1 max-lg:order-first">
      <h3 className="text-xs font-semibold text-muted">Use, {nameRange(page).replace(/^L/, 'l')}</h3>
      <dl className="divide-y border-y">
        {line?.use === null && <Fact name="Requests">none</Fact>}
        {line?.use && <Use use={line.use} filter={filter} />}
        {ends && (
          <Fact name="Support">
            <Badge tone="warn">{describeEnd(ends, Date.now())}</Badge>
          </Fact>
        )}
      </dl>
    </section>
  );
}

interface UseProps {
  readonly use: ModelUse;
  readonly filter: Parameters<typeof requestsLink>[0];
}

function Use({ use, filter }: UseProps) {
  const { requests, failures, share, errorRate, p95Ms, paidUsd } = use;
  return (
    <>
      <Fact name="Requests">
        <PlaceLink {...requestsLink(filter)} className="text-accent underline">
          {formatCount(requests)}
        </PlaceLink>{' '}
        ({formatShare(share)})
      </Fact>
      <Fact name="Failed in the end">
        {failures === 0 ? (
          '0'
        ) : (
          <PlaceLink {...requestsLink({ ...filter, outcome: 'error' })} className="text-accent underline">
            {formatCount(failures)}
          </PlaceLink>
        )}{' '}
        {errorRate !== null && `(${describeFailedShare(use)})`}
      </Fact>
      <Fact name="Upstream p95">{formatEstimate(p95Ms)}</Fact>
      <Fact name="Paid per 1M tokens">{paidUsd === null ? NOTHING : formatUsd(paidUsd)}</Fact>
    </>
  );
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div className="flex items-baseline justify-between gap-3 py-1">
    <dt className="text-muted">{name}</dt>
    <dd className="nums">{children}</dd>
  </div>
);
