import { useChange } from '../../api/change';
import { ApiError, api, read, readOrNull } from '../../api/client';
import { type CustomerLimitsInput, useProjectOptions } from '../../api/projects';
import type { FieldSpec } from '../forms/prepare-form';
import { SpecDialog } from '../forms/spec-form';
import { customerFields } from './customer-fields';

const CUSTOMER: FieldSpec = {
  ...{ name: 'customer_id', label: 'Customer ID', kind: 'text', required: true },
  hint: 'What your application sends in X-Customer-ID',
  placeholder: 'acme',
};

interface Props {
  readonly projectId: string | undefined;
  readonly onClose: () => void;
}

/** Limits of a customer, which apply from its first request on. */
export function NewLimits({ projectId, onClose }: Props) {
  const projects = useProjectOptions();
  const project: FieldSpec = {
    ...{ name: 'project_id', label: 'Project', kind: 'text', required: true },
    options: Object.fromEntries(projects),
  };
  const create = useChange({
    run: async ({ project_id: id, customer_id: customer, ...limits }: Record<string, unknown>) => {
      const routes = api.projects[':id'].customers[':customer_id'].limits;
      const param = { id: String(id), customer_id: encodeURIComponent(String(customer)) };
      if ((await readOrNull(routes.$get({ param }))) !== null) throw takenBy(String(customer));
      return read(routes.$put({ param, json: limits as CustomerLimitsInput }));
    },
    affects: [['customers'], ['customer-limits'], ['budgets']],
    done: 'Limits saved. They apply from the first request.',
  });
  return (
    <SpecDialog
      title="Set customer limits"
      description="You can set limits before the customer's first request."
      onClose={onClose}
      specs={(values) => [project, CUSTOMER, ...customerFields(values)]}
      resource={{ project_id: projectId ?? projects[0]?.[0], on_limit_behavior: 'block' }}
      submitLabel="Set limits"
      change={create}
      onSubmit={(body) => create.mutate(body, { onSuccess: onClose })}
    />
  );
}

const takenBy = (customer: string) =>
  new ApiError(
    `customer_id: "${customer}" already has limits. Open it in the list to change them.`,
    409,
    'conflict',
    'customer_id',
  );
