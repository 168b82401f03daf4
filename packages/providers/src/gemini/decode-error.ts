import type { JsonObject } from '@llm0/core/chat/json';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { asObjects, asString } from '../translation/read-json';
import {
  decodeErrorAnswer,
  decodeErrorObject as decodeObject,
  type ErrorAnswer,
  type ErrorDialect,
} from '../transport/error-body';
import { PROVIDER } from './wire';

/** Source: https://ai.google.dev/gemini-api/docs/troubleshooting */
const ERRORS: ErrorDialect = { provider: PROVIDER, statusByType: {}, readRetryMs };

/** Any answer other than 2xx → one clear error. */
export function decodeError(answer: ErrorAnswer): GatewayError {
  return decodeErrorAnswer(ERRORS, answer);
}

/** An error object inside a 200; undefined when there is none. */
export function decodeErrorObject(value: JsonObject): GatewayError | undefined {
  return decodeObject(ERRORS, value);
}

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
