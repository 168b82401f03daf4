import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Hono } from 'hono';
import type { Services } from '../../services/contract';
import { respondError } from '../exchange/respond-error';
import {
  deleteKeptAnswer,
  type KeepingDialect,
  type KeptAnswerRequest,
  listInputItems,
  refuseCancel,
  showKeptAnswer,
} from './handle-kept-answers';

type Handle = (services: Services, asked: KeptAnswerRequest) => Promise<Response>;

/** What can be done with a kept answer, by path under its id and by method. */
const ROUTES: readonly (readonly [path: string, methods: Readonly<Record<string, Handle>>])[] = [
  ['/v1/responses/:id', { GET: showKeptAnswer, DELETE: deleteKeptAnswer }],
  ['/v1/responses/:id/input_items', { GET: listInputItems }],
  ['/v1/responses/:id/cancel', { POST: refuseCancel }],
];

export function routeKeptAnswers(app: Hono, services: Services, dialect: KeepingDialect): void {
  for (const [path, methods] of ROUTES) {
    app.all(path, (c) => {
      const handle = methods[c.req.method];
      if (handle !== undefined) return handle(services, { request: c.req.raw, id: c.req.param('id') ?? '', dialect });
      const allowed = Object.keys(methods).join(', ');
      const error = new GatewayError('method_not_allowed', `This path takes ${allowed} only.`);
      const response = respondError(error, { requestId: services.createId(), dialect });
      response.headers.set('Allow', allowed);
      return response;
    });
  }
}
