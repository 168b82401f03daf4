import { createRoute, OpenAPIHono, type RouteConfig, type z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Context, HonoRequest } from 'hono';
import type { AdminEnv } from './admin-services';
import type { AnswerOf, Place, Route, Routed, SchemaAt, SomeSchema } from './route-types';

/** The part of Hono's context that handlers of any route use. */
export interface AnyRouteContext
  extends Pick<Context<AdminEnv>, 'env' | 'get' | 'set' | 'res' | 'header' | 'body' | 'text' | 'redirect'> {
  readonly req: Pick<HonoRequest, 'raw' | 'url' | 'path' | 'method' | 'header'>;
}

/** With the inputs and answers of one route. */
export interface RouteContext<R extends Route> extends AnyRouteContext {
  readonly req: AnyRouteContext['req'] & {
    valid<P extends Place>(place: [SchemaAt<R, P>] extends [never] ? never : P): z.output<SchemaAt<R, P>>;
  };
  json(body: AnswerOf<R, 200>): Response;
  json<S extends keyof R['responses'] & number>(body: AnswerOf<R, S>, status: S, headers?: HeadersInit): Response;
}

type RouteHandler<R extends Route> = (c: RouteContext<R>) => Response | Promise<Response>;

/**
 * The part of a router that routes use. Hono's own types instantiate hundreds of types for each route and its answer,
 * which took a third of the type check.
 */
export interface AdminRouter<S = unknown> extends Pick<OpenAPIHono<AdminEnv>, 'routes' | 'getOpenAPI31Document'> {
  openapi<R extends Route>(route: R, handler: RouteHandler<R>): AdminRouter<S & Routed<R>>;
  route<T>(path: '/', router: AdminRouter<T>): AdminRouter<S & T>;
  /** For the compiler alone. */
  readonly schema?: S;
}

/** A route of a router. */
export const defineRoute = <const R extends Route>(route: R): R =>
  createRoute(route as unknown as RouteConfig) as unknown as R;

/** A router whose schemas reject invalid input with `invalid_request` and the field's name. */
export function createRouter(): AdminRouter {
  const router = new OpenAPIHono<AdminEnv>({
    defaultHook: (result) => {
      if (!result.success) throw invalidInput(result.error);
    },
  });
  return router as unknown as AdminRouter;
}

const PROBLEMS_SHOWN = 3;

/** Errors by field; `param` is the first one. */
export function invalidInput(error: z.ZodError): GatewayError {
  const problems = error.issues.map(describeIssue);
  const shown = problems.slice(0, PROBLEMS_SHOWN).map((problem) => problem.message);
  const more = problems.length > PROBLEMS_SHOWN ? ` And ${problems.length - PROBLEMS_SHOWN} more.` : '';
  return new GatewayError('invalid_request', `${shown.join(' ')}${more}`, { param: problems[0]?.param });
}

function describeIssue(issue: z.core.$ZodIssue): { readonly param?: string; readonly message: string } {
  const at = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    const names = issue.keys.map((key) => [...at, key].join('.').slice(0, 100));
    return { param: names[0], message: `There is no field ${names.join(', ')} here.` };
  }
  const param = at.join('.').slice(0, 100);
  return {
    param: param === '' ? undefined : param,
    message: `${param === '' ? 'The body' : param}: ${reasonOf(issue)}.`,
  };
}

/** The reason alone: `must be at least 1`. */
export function reasonOf(issue: z.core.$ZodIssue): string {
  const isMissing =
    issue.code === 'invalid_type' && issue.input === undefined && /received undefined/.test(issue.message);
  if (isMissing) return 'is required';
  // For an invalid name, the reason is in the inner issue.
  return issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
}

/** Head of route definitions for one resource: method, path and OpenAPI tags. */
export const routesOf =
  (tag: string) =>
  <const M extends 'get' | 'post' | 'put' | 'patch' | 'delete', const P extends string>(
    method: M,
    path: P,
    summary: string,
  ) => ({ method, path, tags: [tag], summary });

/** A JSON answer, for route definitions. */
export const answers = <T extends SomeSchema>(schema: T, description: string) => ({
  content: { 'application/json': { schema } },
  description,
});

/** A JSON body, for route definitions. */
export const takes = <T extends SomeSchema>(schema: T) => ({
  required: true as const,
  content: { 'application/json': { schema } },
});
