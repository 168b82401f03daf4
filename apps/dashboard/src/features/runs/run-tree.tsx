import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Waterfall } from '../../charts/waterfall/waterfall';
import { Failure } from '../../ui/error-state';
import { prepareRun, type RunStep } from './prepare-run';
import { useRun } from './use-runs';

interface Props {
  readonly id: string;
  readonly projectId: string;
}

/** Requests and tool calls of a run as a tree on one time axis. */
export function RunTree({ id, projectId }: Props) {
  const run = useRun(id, projectId);
  const items = run.data?.items;
  const picture = useMemo(() => items && prepareRun(items), [items]);
  return (
    <>
      <Failure of={run} />
      {picture !== undefined && picture.steps.length === 0 && <p className="text-muted">No requests yet.</p>}
      {picture !== undefined && picture.steps.length > 0 && (
        <Waterfall
          heading="Requests and tool calls"
          caption="Requests and tool calls of this run, in the order of their start"
          waterfall={picture}
          drawName={drawName}
        />
      )}
    </>
  );
}

/** A request opens on the requests page, a call in its own list. */
const drawName = ({ requestId, isCall, name }: RunStep) => (
  <Link
    to={isCall ? '/tools' : '/requests'}
    search={({ range, from, to, tz }) => ({
      range,
      from,
      to,
      tz,
      open: requestId,
      ...(isCall ? { tab: 'calls' } : {}),
    })}
    className="text-accent hover:underline"
  >
    {name}
  </Link>
);
