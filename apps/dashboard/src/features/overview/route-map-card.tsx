import { useMemo } from 'react';
import { useProjectNames } from '../../api/projects';
import { type StatsQuery, useFlows } from '../../api/stats';
import { FlowLegend, FlowMap } from '../../charts/flow/flow-map';
import { describeCounts, prepareFlow } from '../../charts/flow/prepare-flow';
import { countOf } from '../../format/format-number';
import { useShowRequests } from '../../range/use-show-requests';
import { Card } from '../../ui/card';
import { Failure } from '../../ui/error-state';
import { FiguresTable } from '../../ui/table/figures-table';

/** Height of a map: nothing moves when it arrives. */
const RESERVED = 'min-h-110 sm:min-h-70';
/** Ways told to screen readers. */
const TOLD = 30;

/** Ways of requests through the gateway. */
export function RouteMapCard({ query }: { readonly query: StatsQuery }) {
  const flows = useFlows(query);
  const projectName = useProjectNames();
  const showRequests = useShowRequests();
  const { data } = flows;
  const map = useMemo(() => data && prepareFlow(data, projectName), [data, projectName]);
  const isDrawn = data !== undefined && data.requests > 0;
  return (
    <Card title="Route map" actions={<span className="text-xs text-muted">{data && describeSize(data)}</span>}>
      <div className={RESERVED}>
        <Failure of={flows} />
        {map === undefined && flows.error === null && (
          <div className={`rounded bg-hover/60 ${RESERVED}`} aria-busy="true" />
        )}
        {data?.requests === 0 && (
          <p className={`flex items-center justify-center text-center text-muted ${RESERVED}`}>
            No requests in this range.
          </p>
        )}
        {isDrawn && map !== undefined && (
          <FlowMap map={map} onSelect={({ filter }) => filter !== null && showRequests(filter)} />
        )}
      </div>
      <div className="flex flex-wrap justify-between gap-x-4 gap-y-1 text-2xs text-muted">
        <FlowLegend />
        <span>All requests. Red: the share that failed in the end, after every failover.</span>
      </div>
      {isDrawn && (
        <FiguresTable
          caption="Route map in figures"
          heads={['Project', 'Requested model', 'Answered by', 'Requests']}
          rows={data.data.slice(0, TOLD).map((flow) => {
            const { project_id, requested_model, provider, cached } = flow;
            const target = cached ? 'Cache' : provider === '' ? 'Not sent' : provider;
            return {
              key: `${project_id} ${requested_model} ${provider} ${cached}`,
              cells: [projectName(project_id), requested_model, target, describeCounts(flow)],
            };
          })}
        />
      )}
    </Card>
  );
}

const describeSize = ({ requests, sampled }: { readonly requests: number; readonly sampled: boolean }) =>
  sampled ? `About ${countOf(requests, 'request')}, estimated from a sample` : countOf(requests, 'request');
