import { type CustomerPath, getCustomerLimits } from '@llm0/drizzle/queries/limits/customer-limits';
import { lockCustomerLimits } from '@llm0/drizzle/queries/limits/lock-customer-limits';
import type { AdminServices } from '../admin-services';

/**
 * Brings a customer's limits as they are into the hot store. Under a lock of the customer, so that of two changes at once
 * the later one is also the later one in the hot store.
 */
export function mirrorLimits(services: Pick<AdminServices, 'db' | 'hotStore'>, at: CustomerPath): Promise<void> {
  return services.db.transaction(async (tx) => {
    await lockCustomerLimits(tx, at);
    await services.hotStore.setCustomerLimits(at.projectId, at.customerId, await getCustomerLimits(tx, at));
  });
}
