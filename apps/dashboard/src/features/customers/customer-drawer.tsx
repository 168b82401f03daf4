import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { findCustomer, useLimitedCustomers, useProjectNames, useProjectOptions } from '../../api/projects';
import { useSpend } from '../../api/stats';
import type { Page } from '../../range/use-page';
import { requestsLink } from '../../range/use-show-requests';
import { Dialog } from '../../ui/dialog';
import { Failure } from '../../ui/error-state';
import { SelectField } from '../../ui/form';
import { type Place, PlaceLink } from '../../ui/place-link';
import { Segmented } from '../../ui/segmented';
import { Managed } from '../forms/managed';
import { ownerOf } from '../projects/spending/prepare-outlooks';
import { CustomerUsage } from './customer-usage';
import { LimitsForm } from './limits-form';
import { type OpenedCustomer, readOpened, requestsOf } from './prepare-customers';

const TABS = { usage: 'Usage', limits: 'Limits' } as const;

interface Props {
  /** Of the address. */
  readonly open: string;
  readonly page: Page;
  readonly onClose: () => void;
}

/** A customer: its usage first, its limits as a tab. */
export function CustomerDrawer({ open, page, onClose }: Props) {
  const opened = readOpened(open);
  const [tab, setTab] = useState<keyof typeof TABS>('usage');
  const { customerId, projectId = page.projectId } = opened;
  const projectName = useProjectNames();
  const isOfOne = projectId !== undefined;
  return (
    <Dialog
      kind="drawer"
      title={isOfOne ? `${customerId} in ${projectName(projectId)}` : customerId}
      description={
        isOfOne ? 'Its spend, requests and limits in this project' : 'Its spend, requests and limits in all projects'
      }
      onClose={onClose}
    >
      <div className="grid gap-4 *:min-w-0">
        <div className="flex flex-wrap items-center justify-between gap-2">
          <Segmented label="Customer" options={TABS} value={tab} onChange={setTab} />
          <span className="flex flex-wrap gap-x-4">
            {isOfOne && (
              <PlaceLink {...inAllProjects(customerId)} className="text-accent underline">
                All projects
              </PlaceLink>
            )}
            <PlaceLink {...requestsLink(requestsOf({ customerId, projectId }))} className="text-accent underline">
              View its requests
            </PlaceLink>
          </span>
        </div>
        {tab === 'usage' && <CustomerUsage customer={{ customerId, projectId }} page={page} />}
        {tab === 'limits' && <Limits customer={{ customerId, projectId }} page={page} onDone={onClose} />}
      </div>
    </Dialog>
  );
}

const inAllProjects = (customerId: string): Place => ({
  to: '/customers',
  search: (kept) => ({ ...kept, open: customerId, project: undefined }),
});

interface LimitsProps {
  readonly customer: OpenedCustomer;
  readonly page: Page;
  readonly onDone: () => void;
}

/** Limits belong to a project: one that limits the customer comes first, else the one that it spends most in. */
function Limits({ customer: { customerId, projectId }, page, onDone }: LimitsProps) {
  const options = useProjectOptions();
  const spend = useSpend({ ...page.query, customer_id: customerId, interval: 'all', group_by: 'project' });
  const limited = useLimitedCustomers({ q: customerId });
  const [chosen, setChosen] = useState(projectId);
  const spent = (spend.data?.buckets ?? []).toSorted((a, b) => b.cost_usd - a.cost_usd)[0]?.group ?? undefined;
  const limiting = limited.data?.data.find((one) => one.customer_id === customerId)?.project_id;
  const isKnown = [spend, limited].every(({ data, error }) => data !== undefined || error !== null);
  const project = chosen ?? (isKnown ? (limiting ?? spent ?? options[0]?.[0]) : undefined);
  const found = useQuery({
    queryKey: ['customers', 'one', project, customerId],
    queryFn: () => findCustomer(ownerOf(project ?? '', customerId)),
    enabled: project !== undefined,
  });
  return (
    <>
      <SelectField label="Project" options={options} value={project ?? ''} onValue={setChosen} />
      <Failure of={found} />
      {found.data === null && <p className="text-muted">There is no such project.</p>}
      {found.data && project !== undefined && (
        <Managed of={{ resource: 'customer_limits', id: `${project}/${customerId}` }} at="page">
          <LimitsForm key={project} of={found.data} onDone={onDone} />
        </Managed>
      )}
    </>
  );
}
