import type { JsonObject } from '@llm0/core/chat/json';
import type { FakeBehaviour } from './behaviour';
import type { FakeControl } from './fake-control';

/** The same controls over HTTP, for a fake in its own process: `{default, models, queue, hold, release, reset}`. */
export function applyControl(control: FakeControl, command: JsonObject): Response {
  if (command.reset === true) control.reset();
  if (command.default !== undefined) control.setDefault(command.default as FakeBehaviour);
  for (const [model, behaviour] of Object.entries((command.models ?? {}) as JsonObject)) {
    control.setModel(model, behaviour as FakeBehaviour);
  }
  control.enqueue(...((command.queue ?? []) as FakeBehaviour[]));
  if (command.hold === true) control.hold();
  if (command.release === true) control.release();
  return Response.json(control.counters);
}
