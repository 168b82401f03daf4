import type { JsonObject } from '@llm0/core/chat/json';
import { asObjects, asString } from '../translation/read-json';
import { createErrorDecoders } from '../transport/error-body';
import { PROVIDER } from './wire';

/** Source: https://ai.google.dev/gemini-api/docs/troubleshooting */
export const { decodeError, decodeErrorObject } = createErrorDecoders({
  provider: PROVIDER,
  statusByType: {},
  readRetryMs,
});

const DURATION = /^(\d+(?:\.\d+)?)s$/;

/** `RetryInfo` among the error's details: `retryDelay` as seconds, e.g. `"34.07s"`. */
function readRetryMs(error: JsonObject): number | undefined {
  for (const detail of asObjects(error.details)) {
    if (!asString(detail['@type'])?.endsWith('RetryInfo')) continue;
    const seconds = DURATION.exec(asString(detail.retryDelay) ?? '')?.[1];
    if (seconds !== undefined) return Math.ceil(Number(seconds) * 1000);
  }
  return undefined;
}
