import { GatewayError } from '@llm0/core/errors/gateway-error';
import { inTime } from '@llm0/core/waits/in-time';

/** Room for six of the largest requests; each takes some times its size while it is read and sent. */
const MAX_CARRIED_BYTES = 128 * 1024 * 1024;
const RETRY_MS = 1000;

/** Ends a request. */
export interface Release {
  (): void;
  /** Takes room for bytes of a large body until the request ends. Throws `overloaded` where there is none. */
  carry(bytes: number): void;
}

function tooMuch(): GatewayError {
  const message = 'This gateway is busy with as many large requests as it can hold. Please retry.';
  return new GatewayError('overloaded', message, { param: 'body', retryAfterMs: RETRY_MS });
}

/** Counts requests under way, so that a drain knows when the last one has ended. */
export class Activity {
  private open = 0;
  private carried = 0;
  private waiting: (() => void)[] = [];
  private draining = false;

  /** `maxCarriedBytes`: of the large bodies of all requests under way. */
  constructor(private readonly maxCarriedBytes = MAX_CARRIED_BYTES) {}

  /** A request begins; the returned function ends it, however often it is called. */
  enter(): Release {
    this.open += 1;
    let entered = true;
    let carried = 0;
    const release = () => {
      if (!entered) return;
      entered = false;
      this.open -= 1;
      this.carried -= carried;
      if (this.open === 0) for (const resolve of this.waiting.splice(0)) resolve();
    };
    const carry = (bytes: number) => {
      if (!entered) return;
      if (this.carried + bytes > this.maxCarriedBytes) throw tooMuch();
      carried += bytes;
      this.carried += bytes;
    };
    return Object.assign(release, { carry });
  }

  get count(): number {
    return this.open;
  }

  get isDraining(): boolean {
    return this.draining;
  }

  /** Marks the process as going away; resolves when nothing is under way any more, or false after `timeoutMs`. */
  drain(timeoutMs: number): Promise<boolean> {
    this.draining = true;
    if (this.open === 0) return Promise.resolve(true);
    const idle = Promise.withResolvers<true>();
    this.waiting.push(() => idle.resolve(true));
    return inTime(idle.promise, timeoutMs, () => false);
  }
}
