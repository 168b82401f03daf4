import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe finds wrong with a page (WCAG 2.1 A and AA, and targets of 24 px): one line each, none when all is well. `within`: a part of it alone. */
export async function checkAccessibility(page: Page, within?: string): Promise<string[]> {
  // Evaluated by the debugger, which no content policy holds back.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  return page.evaluate(async (part) => {
    const runner = (globalThis as unknown as { axe: typeof axe }).axe;
    const { violations } = await runner.run(part ?? document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'],
      // Of WCAG 2.2, and off by default.
      rules: { 'target-size': { enabled: true } },
      resultTypes: ['violations'],
    });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.target.join(' ')}: ${node.failureSummary}`),
    );
  }, within ?? null);
}
