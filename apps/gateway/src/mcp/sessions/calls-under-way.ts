import type { RpcId } from '../wire/json-rpc';

/** Cancellable requests of clients with sessions, in this process only. */
export class CallsUnderWay {
  private readonly calls = new Map<string, AbortController>();

  /** The signal that a cancellation fires; `end` must be called. */
  begin(owner: string, id: RpcId): { readonly signal: AbortSignal; readonly end: () => void } {
    const name = nameOf(owner, id);
    const controller = new AbortController();
    this.calls.set(name, controller);
    const end = () => {
      if (this.calls.get(name) === controller) this.calls.delete(name);
    };
    return { signal: controller.signal, end };
  }

  cancel(owner: string, id: RpcId): void {
    this.calls.get(nameOf(owner, id))?.abort();
  }
}

const nameOf = (owner: string, id: RpcId): string => `${owner}\n${typeof id}\n${id}`;
