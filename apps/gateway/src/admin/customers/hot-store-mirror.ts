// Without the hot store, committed changes wait here and retry every second; the caller learns of the delay.

import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { HotStore } from '@llm0/core/limits/hot-store';
import type { Logger } from 'pino';

export interface MirrorOptions {
  readonly log: Pick<Logger, 'warn' | 'info'>;
  readonly retryEveryMs?: number;
}

type Write = () => Promise<void>;

/**
 * Mirrors committed changes to the hot store. A newer write of a name replaces a waiting one. A write reads its row
 * when it runs, so a late one never restores old data.
 */
export class HotStoreMirror {
  private readonly waiting = new Map<string, Write>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly options: MirrorOptions) {}

  /** Number of saved changes that aren't active. */
  get size(): number {
    return this.waiting.size;
  }

  /** Throws `store_unavailable`, saying that the change is saved, when the store does not take it now. */
  async apply(name: string, write: Write): Promise<void> {
    if (await this.attempt(name, write)) return;
    throw new GatewayError(
      'store_unavailable',
      "Saved, but not active yet: the hot store is unreachable. The change applies once it returns; don't send it again.",
      { retryAfterMs: this.retryEveryMs },
    );
  }

  /** For changes that work without the store: never throws. */
  async applyLater(name: string, write: Write): Promise<void> {
    await this.attempt(name, write);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private get retryEveryMs(): number {
    return this.options.retryEveryMs ?? 1000;
  }

  private async attempt(name: string, write: Write): Promise<boolean> {
    this.waiting.set(name, write);
    try {
      await write();
      if (this.waiting.get(name) === write) this.waiting.delete(name);
      return true;
    } catch (err) {
      this.options.log.warn({ err, change: name }, 'a change is saved but not in force yet');
      this.schedule();
      return false;
    }
  }

  private schedule(): void {
    if (this.timer !== undefined) return;
    this.timer = setTimeout(() => void this.retry(), this.retryEveryMs);
    this.timer.unref();
  }

  private async retry(): Promise<void> {
    for (const [name, write] of [...this.waiting]) {
      try {
        await write();
        if (this.waiting.get(name) === write) this.waiting.delete(name);
        this.options.log.info({ change: name }, 'a saved change is in force now');
      } catch {
        break;
      }
    }
    this.timer = undefined;
    if (this.waiting.size > 0) this.schedule();
  }
}

/**
 * After a committed change of prices, chains, aliases or providers: admission compares versions, so the next request
 * everywhere uses it. The notice preloads other processes.
 */
export async function bringTablesIntoForce(
  services: { readonly hotStore: Pick<HotStore, 'tables' | 'notify'>; reloadTables(): Promise<void> },
  mirror: HotStoreMirror,
): Promise<void> {
  await services.reloadTables();
  await mirror.apply('tables', async () => {
    await services.hotStore.tables.raise();
    await services.hotStore.notify('tables');
  });
}
