const sha256 = (text: string) => Bun.CryptoHasher.hash('sha256', text, 'hex');

/** The API keys of `keys-100k`, by number: what load sends and what `generate-keys` puts into the database. */
export const benchKey = (index: number): string => `llm0_live_${sha256(`bench key ${index}`)}`;
export const benchKeyHash = (index: number): string => sha256(benchKey(index));
export const benchCustomer = (index: number): string => `bench-customer-${index}`;

/** The same as an SQL expression over a column of numbers. */
export const BENCH_KEY_SQL = `'llm0_live_' || encode(sha256(convert_to('bench key ' || i, 'UTF8')), 'hex')`;
