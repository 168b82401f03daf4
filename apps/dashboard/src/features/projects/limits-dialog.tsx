import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { type Customer, type CustomerLimitsInput, useCustomerLimits } from '../../api/projects';
import { Dialog, type DialogOf } from '../../ui/dialog';
import { Failure } from '../../ui/error-state';
import { ChangeButton } from '../forms/change-button';
import { SpecForm } from '../forms/spec-form';
import { CUSTOMER_FIELDS } from './field-specs';

interface Props extends DialogOf<Customer> {
  readonly projectName: string;
}

/** What a customer may spend. */
export function LimitsDialog({ of: customer, projectName, onClose }: Props) {
  const { project_id: projectId, customer_id: customerId } = customer;
  const limits = useCustomerLimits({ projectId, customerId });
  const param = { id: projectId, customer_id: encodeURIComponent(customerId) };
  const routes = api.projects[':id'].customers[':customer_id'].limits;
  const affects = [['customers'], ['customer-limits'], ['budgets']];
  const save = useChange({
    run: (json: CustomerLimitsInput) => read(routes.$put({ param, json })),
    affects,
    done: 'The limits hold from the next request on',
  });
  const remove = useChange({
    run: () => routes.$delete({ param }),
    affects,
    done: 'The customer has no limits any more',
  });
  return (
    <Dialog title={customerId} description={`Limits of this customer in ${projectName}`} onClose={onClose}>
      <Failure of={limits} />
      {limits.data !== undefined && (
        <SpecForm
          specs={CUSTOMER_FIELDS}
          resource={limits.data ?? { on_limit_behavior: 'block' }}
          submitLabel="Save limits"
          change={save}
          otherError={remove.error}
          onSubmit={(body) =>
            save.mutate({ model_limits: limits.data?.model_limits ?? {}, ...body } as CustomerLimitsInput, {
              onSuccess: onClose,
            })
          }
        >
          {limits.data !== null && (
            <ChangeButton kind="danger" onClick={() => remove.mutate(undefined, { onSuccess: onClose })}>
              Remove limits
            </ChangeButton>
          )}
        </SpecForm>
      )}
    </Dialog>
  );
}
