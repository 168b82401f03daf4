/** Pieces of an OpenAPI document, as plain JSON. */
export type Part = Readonly<Record<string, unknown>>;

export const schemaRef = (name: string): Part => ({ $ref: `#/components/schemas/${name}` });
export const nullable = (type: string, more: Part = {}): Part => ({ type: [type, 'null'], ...more });
export const arrayOf = (items: Part, more: Part = {}): Part => ({ type: 'array', items, ...more });
export const oneOfTexts = (...values: readonly string[]): Part => ({ type: 'string', enum: values });

/** An open object: unlisted fields pass to or from the vendor. */
export const openObject = (properties: Part, required: readonly string[] = [], more: Part = {}): Part => ({
  type: 'object',
  ...(required.length === 0 ? {} : { required }),
  properties,
  ...more,
});

export const TEXT = { type: 'string' } as const;
export const MODEL = {
  type: 'string',
  description: 'Model name, `provider/model`, or an alias of the project',
} as const;
export const STREAM = { type: 'boolean', default: false, description: 'Answer as server-sent events' } as const;
export const COUNT = { type: 'integer', minimum: 0 } as const;
export const FLAG = { type: 'boolean' } as const;
export const OBJECT = { type: 'object' } as const;
export const NUMBER = { type: 'number' } as const;

/** The gateway's own fields of plain answers. */
export const METADATA = {
  latency_ms: { type: 'number', description: 'Whole request' },
  cost_usd: { type: 'number', description: 'USD, exact, at most 9 decimals; 0 for hits' },
} as const;

export const json = (schema: Part): Part => ({ 'application/json': { schema } });

/** One answer of an endpoint; `stream` where a caller may ask for server-sent events. */
export interface Answer {
  readonly description: string;
  readonly schema: Part;
  readonly stream?: string;
  /** Media type; absent: JSON. */
  readonly type?: string;
}

export interface Operation {
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly body?: Part;
  /** The body is a form instead of JSON. */
  readonly isForm?: true;
  /** Schema of the same in JSON, where a form may come so. */
  readonly jsonBody?: Part;
  readonly answer: Answer;
  /** Names of `components.parameters`. */
  readonly takes?: readonly string[];
  readonly parameters?: readonly Part[];
  /** Envelope of its errors (`components.schemas`). */
  readonly error?: string;
  /** Meaning of a 503, if the method has one. */
  readonly unavailable?: string;
  /** Probes and pages need no key. */
  readonly isOpen?: boolean;
}

export type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** An answer by the name of its schema. */
export const answers = (schema: string, description: string, stream?: string): Answer => ({
  ...{ schema: schemaRef(schema), description },
  ...(stream === undefined ? {} : { stream }),
});
