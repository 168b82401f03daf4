import type { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Upstream, UpstreamAnswer, UpstreamFacts } from './upstream';

/** A server without a connection: each call returns the reason. */
export class UnreachableUpstream implements Upstream {
  constructor(private readonly why: () => GatewayError) {}

  async facts(): Promise<UpstreamFacts> {
    throw this.why();
  }

  async ask(): Promise<UpstreamAnswer> {
    throw this.why();
  }

  async replyLater(): Promise<void> {
    throw this.why();
  }

  async listen(): Promise<void> {
    throw this.why();
  }

  endSession(): void {}

  close(): void {}
}
