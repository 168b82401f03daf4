import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { type Customer, type CustomerLimitsInput, useCustomerLimits } from '../../api/projects';
import { saveChanges } from '../../api/save-changes';
import { formatUsd } from '../../format/format-usd';
import { Failure } from '../../ui/error-state';
import { ConfirmButton } from '../forms/confirm-button';
import { fillForm, readForm } from '../forms/prepare-form';
import { type Edit, SpecForm } from '../forms/spec-form';
import { CUSTOMER_FIELDS, customerFields } from './customer-fields';

interface Props {
  readonly of: Pick<Customer, 'project_id' | 'customer_id' | 'today_usd' | 'month_usd'>;
  readonly onDone: () => void;
}

/** Limits of a customer in one project. */
export function LimitsForm({ of: customer, onDone }: Props) {
  const { project_id: projectId, customer_id: customerId } = customer;
  const limits = useCustomerLimits({ projectId, customerId });
  const param = { id: projectId, customer_id: encodeURIComponent(customerId) };
  const routes = api.projects[':id'].customers[':customer_id'].limits;
  const affects = [['customers'], ['customer-limits'], ['budgets']];
  const save = useChange({
    run: ({ json, edit }: { readonly json: CustomerLimitsInput; readonly edit: Edit }) =>
      limits.data === null
        ? read(routes.$put({ param, json }))
        : saveChanges({
            ...edit,
            read: () => routes.$get({ param }),
            // PUT replaces the whole, including others' changes.
            write: (options, { model_limits, ...current }) => {
              const kept = readForm(CUSTOMER_FIELDS, fillForm(CUSTOMER_FIELDS, current));
              const whole = { model_limits, ...kept, ...edit.changes } as CustomerLimitsInput;
              return routes.$put({ param, json: whole }, options);
            },
          }),
    affects,
    done: 'Limits saved. They apply from the next request.',
  });
  const remove = useChange({
    run: () => routes.$delete({ param }),
    affects,
    done: 'Limits removed',
  });
  return (
    <>
      <Failure of={limits} />
      {limits.data !== undefined && (
        <SpecForm
          specs={customerFields}
          resource={limits.data ?? { on_limit_behavior: 'block' }}
          submitLabel="Save limits"
          change={save}
          onSubmit={(body, edit) => {
            const json = { model_limits: limits.data?.model_limits ?? {}, ...body } as CustomerLimitsInput;
            save.mutate({ json, edit }, { onSuccess: onDone });
          }}
        >
          {limits.data !== null && (
            <ConfirmButton
              title={`Remove the limits of ${customerId}?`}
              impact={`Only the limits of its key and project will apply. This customer has spent ${formatUsd(customer.today_usd)} today and ${formatUsd(customer.month_usd)} this month.`}
              confirmLabel="Remove limits"
              change={remove}
              onConfirm={() => remove.mutate(undefined, { onSuccess: onDone })}
            >
              Remove limits
            </ConfirmButton>
          )}
        </SpecForm>
      )}
    </>
  );
}
