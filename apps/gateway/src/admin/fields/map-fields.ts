import type { z } from '@hono/zod-openapi';
import { innerName } from '@llm0/drizzle/queries/inner-names';
import { jsonUsd } from './json-money';
import { showInstant, showMs } from './show-fields';

type Camel<S extends string> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S;

/** Inner name of an API field: `cap_usd` → `capNanoUsd`, `created_at` → `createdAtMs`, else in camel case. */
export type InnerName<S extends string> = S extends `${infer Head}_usd`
  ? `${Camel<Head>}NanoUsd`
  : S extends `${infer Head}_at`
    ? `${Camel<Head>}AtMs`
    : Camel<S>;

/** Instants are milliseconds, lists and objects are read-only, and null may be missing. */
type InnerValue<Name extends string, Value> = unknown extends Value ? unknown : KnownValue<Name, Value>;
type KnownValue<Name extends string, Value> =
  | (Name extends `${string}_at` ? number : Value extends readonly (infer One)[] ? readonly One[] : Readonly<Value>)
  | (null extends Value ? null | undefined : never);

/** Shown fields, by inner names. */
export type InnerOf<Shown> = {
  readonly [Name in keyof Shown & string as InnerName<Name>]: InnerValue<Name, Shown[Name]>;
};

type Shape = z.ZodObject;

/** A stored thing as the API shows it, by the names of the schema; money is exact, milliseconds to the microsecond. */
export function showFields<S extends Shape>(schema: S, stored: InnerOf<z.output<S>>): z.output<S> {
  const shown: Record<string, unknown> = {};
  for (const { name, inner, show } of planOf(schema)) {
    const value = (stored as Readonly<Record<string, unknown>>)[inner];
    shown[name] = value === null || value === undefined ? null : show(value);
  }
  return shown as z.output<S>;
}

/** Sent fields by inner names, with parsed values. */
export function readFields<B extends object>(body: B): { [Name in keyof B & string as InnerName<Name>]: B[Name] } {
  const read = Object.entries(body).map(([name, value]) => [innerName(name), value]);
  return Object.fromEntries(read);
}

interface FieldPlan {
  readonly name: string;
  readonly inner: string;
  readonly show: (value: unknown) => unknown;
}

const plans = new WeakMap<Shape, readonly FieldPlan[]>();

function planOf(schema: Shape): readonly FieldPlan[] {
  let plan = plans.get(schema);
  if (plan === undefined) {
    plan = Object.keys(schema.shape).map((name) => ({ name, inner: innerName(name), show: showBy(name) }));
    plans.set(schema, plan);
  }
  return plan;
}

function showBy(name: string): FieldPlan['show'] {
  if (name.endsWith('_usd')) return (value) => jsonUsd(Number(value));
  if (name.endsWith('_at')) return (value) => showInstant(Number(value));
  return name.endsWith('_ms') ? (value) => showMs(Number(value)) : (value) => value;
}
