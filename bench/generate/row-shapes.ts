/** One kind of log row: what the roll-ups group by, and how often it comes. */
export interface RowShape {
  readonly project: number;
  readonly key: number;
  readonly model: string;
  readonly provider: string;
  readonly status: string;
  readonly httpStatus: number;
  readonly errorCode: string | null;
  readonly cache: 'exact' | 'semantic' | 'miss';
  readonly weight: number;
}

export const PROJECTS = 5;
export const KEYS_PER_PROJECT = 4;
/** Each key calls two models, as services do. */
const MODELS_PER_KEY = 2;
const MODELS = [
  ['gpt-4o', 'openai'],
  ['gpt-4o-mini', 'openai'],
  ['claude-sonnet-4-6', 'anthropic'],
  ['claude-haiku-4-5', 'anthropic'],
  ['gemini-2.5-flash', 'gemini'],
  ['gemini-2.5-pro', 'gemini'],
] as const;

const OUTCOMES = [
  { status: 'success', httpStatus: 200, errorCode: null, cache: 'miss', weight: 62 },
  { status: 'success', httpStatus: 200, errorCode: null, cache: 'exact', weight: 28 },
  { status: 'success', httpStatus: 200, errorCode: null, cache: 'semantic', weight: 4 },
  { status: 'rate_limited', httpStatus: 429, errorCode: 'rate_limit_exceeded', cache: 'miss', weight: 3 },
  { status: 'error', httpStatus: 502, errorCode: 'upstream_error', cache: 'miss', weight: 2 },
  { status: 'aborted', httpStatus: 200, errorCode: null, cache: 'miss', weight: 1 },
] as const satisfies readonly Omit<RowShape, 'project' | 'key' | 'model' | 'provider'>[];

/** All kinds of rows; a project has half the traffic of the one before it. */
export function rowShapes(): readonly RowShape[] {
  const shapes: RowShape[] = [];
  for (let project = 0; project < PROJECTS; project++) {
    for (let key = 0; key < KEYS_PER_PROJECT; key++) {
      for (let i = 0; i < MODELS_PER_KEY; i++) {
        const [model, provider] = MODELS[(project + key + 2 * i) % MODELS.length] ?? MODELS[0];
        for (const outcome of OUTCOMES) {
          shapes.push({ project, key, model, provider, ...outcome, weight: outcome.weight / 2 ** project });
        }
      }
    }
  }
  return shapes;
}

/** The shapes with where each ends on a scale from 0 to 1: a random number then picks one by weight. */
export function rankShapes(shapes: readonly RowShape[]): readonly (RowShape & { readonly upTo: number })[] {
  const total = shapes.reduce((sum, { weight }) => sum + weight, 0);
  let sum = 0;
  return shapes.map((shape, index) => {
    sum += shape.weight;
    return { ...shape, upTo: index === shapes.length - 1 ? 1 : sum / total };
  });
}
