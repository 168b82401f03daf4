import {
  OpenAPIHono,
  type RouteConfig,
  type RouteConfigToTypedResponse,
  type RouteHandler,
  type z,
} from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Handler, Input, Schema, ToSchema } from 'hono';
import type { AdminEnv } from './admin-services';

/** What the typed client knows of a route. */
type RouteSchema<R extends RouteConfig> =
  RouteHandler<R, AdminEnv> extends Handler<AdminEnv, infer P extends string, infer I extends Input, infer _Answer>
    ? ToSchema<R['method'], P, I, RouteConfigToTypedResponse<R>>
    : never;

/**
 * The part of a router that routes use. For each route, Hono's own type instantiates hundreds of overloads, which took a
 * third of the type check.
 */
export interface AdminRouter<S extends Schema = Schema>
  extends Pick<OpenAPIHono<AdminEnv>, 'routes' | 'getOpenAPI31Document'> {
  openapi<const R extends RouteConfig>(route: R, handler: RouteHandler<R, AdminEnv>): AdminRouter<S & RouteSchema<R>>;
  route<T extends Schema>(path: '/', router: AdminRouter<T>): AdminRouter<S & T>;
  /** For the compiler alone. */
  readonly schema?: S;
}

/** A router whose schemas reject invalid input with `invalid_request` and the field's name. */
export function createRouter(): AdminRouter<Record<never, never>> {
  const router = new OpenAPIHono<AdminEnv>({
    defaultHook: (result) => {
      if (!result.success) throw invalidInput(result.error);
    },
  });
  return router as unknown as AdminRouter<Record<never, never>>;
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
export const answers = <T extends z.ZodType>(schema: T, description: string) => ({
  content: { 'application/json': { schema } },
  description,
});

/** A JSON body, for route definitions. */
export const takes = <T extends z.ZodType>(schema: T) => ({
  required: true as const,
  content: { 'application/json': { schema } },
});
