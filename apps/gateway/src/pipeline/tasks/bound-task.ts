import type { JsonObject } from '@llm0/core/chat/json';
import { type Usage, withLeastUnits } from '@llm0/core/chat/usage';
import type { PricedModel } from '@llm0/core/pricing/price-book';
import type { TaskRequest } from '@llm0/core/tasks/task-request';
import type { Services } from '../../services/contract';
import type { Task } from './task';

/** A request whose bill is bounded. */
export interface BoundedTask<R extends TaskRequest, A extends JsonObject> {
  readonly task: Task<R, A>;
  readonly request: R;
  readonly isStrict: boolean;
  readonly projectId: string;
}

/** The most that a target bills, and no less than its vendor always bills. */
export function boundTask<R extends TaskRequest, A extends JsonObject>(
  services: Pick<Services, 'connect'>,
  { task, request, isStrict, projectId }: BoundedTask<R, A>,
  priced: PricedModel,
): Usage {
  const { provider: name, model } = priced;
  const provider = services.connect({ provider: name, model }, projectId)?.provider;
  return withLeastUnits(task.boundOf(request, priced, isStrict), provider && task.partOf(provider)?.leastUnits);
}
