import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe finds wrong with a page (WCAG 2.1 A and AA): one line each, none when all is well. */
export async function checkAccessibility(page: Page): Promise<string[]> {
  // Evaluated by the debugger, which no content policy holds back.
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const runner = (globalThis as unknown as { axe: typeof axe }).axe;
    const { violations } = await runner.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'],
      resultTypes: ['violations'],
    });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.target.join(' ')}: ${node.failureSummary}`),
    );
  });
}
