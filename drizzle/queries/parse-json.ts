/** JSON of a row that no typed column reads: drizzle returns it as text. */
export const parseJson = (value: unknown): unknown => (typeof value === 'string' ? JSON.parse(value) : value);
