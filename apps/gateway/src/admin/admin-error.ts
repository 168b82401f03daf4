// Without a writable Postgres: 503 `store_unavailable`. Nothing changed, so the caller may retry.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { errorCode } from '@llm0/drizzle/sql-state';
import { HTTPException } from 'hono/http-exception';
import type { Logger } from 'pino';
import { asGatewayError } from '../pipeline/request/respond-error';

/** Error codes of client and server that mean: not reachable, or not ready. */
const UNREACHABLE = /^(?:ECONN|ENOENT|EPIPE|ETIMEDOUT|ENOTFOUND|CONNECTION_|CONNECT_TIMEOUT|08...|57P0.|53300)/;
/** The server refuses writes: read-only (a standby after a failover), out of space or memory, a failing disk. */
const TAKES_NOTHING = /^(?:25006|53...|58...)/;
/** Postgres can't represent a value (bad bytes, number out of range). */
const UNSTORABLE = /^22/;
/** `ENGINE_AWAY` of the queries: older rows are in ClickHouse alone. */
const ENGINE_AWAY = 'ENGINE_AWAY';
/** A question of the statistics was ended by its time-out. */
const TOO_LARGE = '57014';
const RETRY_AFTER_MS = 1000;

/** Converts any thrown value to the client's error. */
export function asAdminError(cause: unknown, log: Pick<Logger, 'error' | 'warn'>): GatewayError {
  // A gateway error names the failing host; that need not be the database.
  if (cause instanceof GatewayError) return cause;
  if (cause instanceof HTTPException) return new GatewayError('invalid_request', cause.message || 'Bad request.');
  const code = errorCode(cause);
  if (code !== undefined && UNREACHABLE.test(code)) {
    log.warn({ code }, 'the database cannot be reached');
    const message = 'The database is unreachable. Nothing was changed; try again.';
    return new GatewayError('store_unavailable', message, { cause, retryAfterMs: RETRY_AFTER_MS });
  }
  if (code !== undefined && TAKES_NOTHING.test(code)) {
    log.warn({ code }, 'the database takes no changes');
    const message = 'The database is read-only or full. Nothing was changed; try again later.';
    return new GatewayError('store_unavailable', message, { cause, retryAfterMs: RETRY_AFTER_MS });
  }
  if (code !== undefined && UNSTORABLE.test(code)) {
    return new GatewayError('invalid_request', "The database can't store a value of this request.", { cause });
  }
  if (code === ENGINE_AWAY) {
    const message = 'ClickHouse has these rows of the log and does not answer. Try again, or ask for the last days.';
    return new GatewayError('store_unavailable', message, { cause, retryAfterMs: RETRY_AFTER_MS });
  }
  if (code === TOO_LARGE) {
    const message =
      'This query would take more than 3 s. Narrow it: a shorter range, a longer interval (1d is fastest), ' +
      'fewer groups (top), a single metric, or one project, key or model.';
    return new GatewayError('invalid_request', message, { cause, param: 'from' });
  }
  return asGatewayError(cause, log);
}
