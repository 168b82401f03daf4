import type { ErrorEnvelope } from '../dialects/dialect';
import { handleKeyRequest } from '../pipeline/handle-key-request';
import type { Authenticated } from '../pipeline/request/load-principal';
import type { Services, UnderWay } from '../services/contract';

/** A request with its key, while it counts as open. */
export interface OwnRequest {
  readonly principal: Authenticated;
  readonly underWay: UnderWay;
  readonly requestId: string | undefined;
}

/** Answers a request about files or batches of the key's project. */
export function answerOwn(
  services: Services,
  { request, dialect }: { readonly request: Request; readonly dialect: ErrorEnvelope },
  work: (own: OwnRequest) => Promise<Response>,
): Promise<Response> {
  return handleKeyRequest(services, { request, dialect }, async (principal, headers) => {
    const underWay = services.openRequests.enter();
    try {
      underWay.held.key = principal.key.id;
      const response = await work({ principal, underWay, requestId: headers['X-Request-Id'] });
      for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
      return response;
    } finally {
      underWay.end();
    }
  });
}
