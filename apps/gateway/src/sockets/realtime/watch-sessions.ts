// The hot store is away: sessions go on; what they hold next is refused by it.
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { latestPrincipal } from '../../pipeline/request/authenticate';
import type { Services } from '../../services/contract';
import type { SessionSocket } from './session-socket';

/** A session that may end by itself. */
export interface Watched {
  readonly socket: SessionSocket;
  readonly keyHash: string;
}

const TICK_MS = 250;

/** Ends sessions whose key or project has ended, within a second; one question for all sessions of a key. */
export class SessionWatch {
  private readonly sessions = new Set<Watched>();
  private timer: ReturnType<typeof setInterval> | undefined;
  private isLooking = false;

  constructor(
    private readonly services: Services,
    private readonly asError: (cause: unknown) => GatewayError,
  ) {}

  add(session: Watched): void {
    this.sessions.add(session);
    this.timer ??= setInterval(() => this.tick(), TICK_MS);
  }

  remove(session: Watched): void {
    this.sessions.delete(session);
    if (this.sessions.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  get all(): ReadonlySet<Watched> {
    return this.sessions;
  }

  private tick(): void {
    const nowMs = this.services.clock.monotonicMs();
    for (const { socket } of this.sessions) socket.tick(nowMs);
    if (this.isLooking) return;
    this.isLooking = true;
    void this.look().finally(() => {
      this.isLooking = false;
    });
  }

  private async look(): Promise<void> {
    const byKey = Map.groupBy(this.sessions, ({ keyHash }) => keyHash);
    await Promise.all([...byKey.values()].map((sessions) => this.lookAt(sessions)));
  }

  private async lookAt(sessions: readonly Watched[]): Promise<void> {
    const [first] = sessions;
    if (first === undefined) return;
    try {
      const known = first.socket.spending.principal;
      const principal = await latestPrincipal(this.services, known);
      for (const { socket } of sessions) socket.renew(principal);
    } catch (cause) {
      const error = this.asError(cause);
      if (error.kind === 'store_unavailable') return;
      for (const { socket } of sessions) socket.cut(error);
    }
  }
}
