import { expect, test } from 'bun:test';
import { matchesTool } from '@llm0/core/mcp/tool-name';
import fc from 'fast-check';
import { isAllowed, mayUseAll, mayUseServer } from './tool-rights';

const pattern = fc.constantFrom('*', 'a__*', 'b__*', 'a__read', 'a__re*', 'b__write', '*__read');
const lists = fc.array(fc.array(pattern, { maxLength: 3 }), { minLength: 1, maxLength: 3 });

test('a tool must be in each list: one more list never permits more', () => {
  fc.assert(
    fc.property(lists, fc.array(pattern), (all, more) => {
      for (const alias of ['a', 'b'])
        for (const tool of ['read', 'write']) {
          const isEach = all.every((list) => list.some((one) => matchesTool(one, `${alias}__${tool}`)));
          expect(isAllowed(all, alias, tool)).toBe(isEach);
          // A server that is not offered has no tool that may be called.
          if (isEach) expect(mayUseServer(all, alias)).toBe(true);
          if (mayUseAll(all, alias)) expect(isEach).toBe(true);
          if (isAllowed([...all, more], alias, tool)) expect(isEach).toBe(true);
        }
    }),
  );
});
