import type { z } from '@hono/zod-openapi';
import type { ClientRequestOptions } from 'hono/client';

/** Shallow, so that the compiler doesn't compare each schema with all of `ZodType`. */
export interface SomeSchema {
  readonly _zod: object;
}
type Content = Readonly<Record<string, { readonly schema: SomeSchema }>>;

/** A route as OpenAPI describes it. */
export interface Route {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** `/keys/{id}` */
  readonly path: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  /** Empty where no token is needed. */
  readonly security?: readonly [];
  readonly request?: {
    readonly params?: SomeSchema;
    readonly query?: SomeSchema;
    readonly body?: { readonly required?: boolean; readonly content: Content };
  };
  readonly responses: Readonly<Record<number, { readonly description: string; readonly content?: Content }>>;
}

/** Where a route reads its input. */
export type Place = 'param' | 'query' | 'json';

interface JsonContent<S> {
  readonly content: { readonly 'application/json': { readonly schema: S } };
}

/** The schema of an input; never where the route has none. */
export type SchemaAt<R extends Route, P extends Place> = P extends 'json'
  ? R extends { request: { body: JsonContent<infer S extends SomeSchema> } }
    ? S
    : never
  : P extends 'param'
    ? R extends { request: { params: infer S extends SomeSchema } }
      ? S
      : never
    : R extends { request: { query: infer S extends SomeSchema } }
      ? S
      : never;

/** The JSON of an answer. */
export type AnswerOf<R extends Route, Status extends PropertyKey> = Status extends keyof R['responses']
  ? R['responses'][Status] extends JsonContent<infer S extends SomeSchema>
    ? z.output<S>
    : never
  : never;

type ClientPath<P extends string> = P extends `${infer Start}/{${infer Name}}${infer Rest}`
  ? `${Start}/:${Name}${ClientPath<Rest>}`
  : P;

/** A route in the type of its router: by path and method. */
export type Routed<R extends Route> = {
  readonly [P in ClientPath<R['path']>]: { readonly [M in R['method']]: R };
};

type First<P> = P extends `/${infer Name}/${string}` ? Name : P extends `/${infer Name}` ? Name : never;
type Under<S, Name extends string> = {
  readonly [P in keyof S as P extends `/${Name}${infer Rest}`
    ? Rest extends '' | `/${string}`
      ? Rest
      : never
    : never]: S[P];
};

/** A client that Hono's `hc` makes: `client.keys[':id'].$get({ param, query, json })`. */
export type ClientOf<S> = { readonly [Name in First<keyof S>]: ClientOf<Under<S, Name>> } & ('' extends keyof S
  ? Calls<S['']>
  : unknown);

type Calls<M> = { readonly [K in keyof M & string as `$${K}`]: M[K] extends Route ? Call<M[K]> : never };
type Sent<R extends Route> = {
  readonly [P in Place as [SchemaAt<R, P>] extends [never] ? never : P]: z.input<SchemaAt<R, P>>;
};
type Call<R extends Route> =
  Record<never, never> extends Sent<R>
    ? (sent?: Sent<R>, options?: ClientRequestOptions) => Promise<Answer<R>>
    : (sent: Sent<R>, options?: ClientRequestOptions) => Promise<Answer<R>>;
interface Answer<R extends Route> extends Omit<Response, 'json'> {
  json(): Promise<AnswerOf<R, 200 | 201>>;
}

/** The input of a client's call. */
export type SentTo<C extends (sent: never) => unknown> = NonNullable<Parameters<C>[0]>;
/** The JSON that a client's call answers with. */
export type AnswerFrom<C extends (sent: never) => Promise<{ json(): Promise<unknown> }>> = Awaited<
  ReturnType<Awaited<ReturnType<C>>['json']>
>;
