import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Hono } from 'hono';
import { respondError } from '../../pipeline/request/respond-error';
import type { AdminEnv } from '../admin-services';
import { scimEnvelope } from './scim-error';

/** 405 for all other methods of a path; to be added after its routes. */
export function refuseMethods(scim: Hono<AdminEnv>, path: string, allowed: string): void {
  scim.all(path, (c) => {
    const error = new GatewayError('method_not_allowed', `This path takes ${allowed} only.`);
    const response = respondError(error, { requestId: c.get('requestId'), dialect: scimEnvelope });
    response.headers.set('Allow', allowed);
    return response;
  });
}
