import { BOUNDED_EXPRESSIONS, BUILT_EXPRESSIONS } from './bounded-expressions';
import { type FoundExpression, findExpressions } from './find-expressions';

/** All expressions of the product, once each; `free`: those without a bound of their own. */
export async function readExpressions() {
  const found = await findExpressions();
  const keyOf = ({ path, source }: Pick<FoundExpression, 'path' | 'source'>) => `${path} ${source}`;
  const bounded = new Set(BOUNDED_EXPRESSIONS.map(keyOf));
  const all = [
    ...found.written,
    ...BUILT_EXPRESSIONS.flatMap(({ path, patterns }) => patterns.map((one) => ({ path, ...one }))),
  ];
  const distinct = [...new Map(all.map((one) => [`${keyOf(one)} ${one.flags}`, one])).values()];
  const free = distinct.filter((one) => !bounded.has(keyOf(one)));
  return { found, distinct, free, keyOf };
}
