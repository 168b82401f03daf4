import { useChange } from '../../api/change';
import { closeMonth } from '../../api/finance';
import { Needed, useMay } from '../../api/session';
import { formatUsd } from '../../format/format-usd';
import { ConfirmButton } from '../forms/confirm-button';
import { closableScope, monthName } from './prepare-finance';
import type { Finance } from './use-finance';

/** By the field of a closing that narrows it. */
const WHOSE: Readonly<Record<string, string>> = { team_id: 'this team', organization_id: 'this organization' };

/** Closes the statement's month, where the user may. */
export function CloseButton({ month, search, page, timeZone, statement }: Finance) {
  const mayClose = useMay('close_months');
  const mayCloseAll = useMay('change_system');
  const scope = closableScope({ ...search, projectId: page.projectId });
  const close = useChange({
    run: () => closeMonth({ month, time_zone: timeZone, ...scope }),
    affects: [['finance']],
    done: `${monthName(month)} closed`,
  });
  const { data } = statement;
  const isOpen = data?.month === month && data.is_final && data.closed_at === null;
  if (!mayClose || scope === null || (Object.keys(scope).length === 0 && !mayCloseAll)) return null;
  return (
    <Needed value="close_months">
      <ConfirmButton
        kind="default"
        // Nothing moves when the month turns out to be closed, or still runs.
        disabled={!isOpen}
        title={`Close ${monthName(month)} (${timeZone})?`}
        impact={
          `${formatUsd(data?.total.cost_usd ?? 0)} of ${WHOSE[Object.keys(scope)[0] ?? ''] ?? 'all projects'} never changes again. ` +
          "What comes later is a correction of the next open month. This can't be undone."
        }
        confirmLabel="Close month"
        change={close}
        onConfirm={(done) => close.mutate(undefined, { onSuccess: done })}
      >
        Close month
      </ConfirmButton>
    </Needed>
  );
}
