import type { CDPSession, Page } from 'playwright-core';

interface Focused {
  readonly name: string;
  readonly role: string;
  /** Why somebody who looks for the focus would not find it; null where all is well. */
  readonly hidden: string | null;
  readonly isBody: boolean;
}

const MOST_PRESSES = 120;
const ARRIVES_WITHIN_MS = 10_000;
const LANDS_WITHIN_MS = 3000;
const SETTLES_WITHIN_MS = 1000;
const IGNORED_ROLES = ['StaticText', 'InlineTextBox'];

/** A page used by keyboard alone: it reads what has the focus as a screen reader would, and never clicks, fills or focuses. */
export class Keyboard {
  private readonly trail: string[] = [];
  private constructor(
    readonly page: Page,
    private readonly session: CDPSession,
  ) {}

  static async of(page: Page): Promise<Keyboard> {
    return new Keyboard(page, await page.context().newCDPSession(page));
  }

  /** What has the focus, with the name and role that the browser tells assistive technology. */
  async focused(): Promise<Focused> {
    const { result } = await this.session.send('Runtime.evaluate', { expression: 'document.activeElement' });
    const { objectId } = result;
    if (objectId === undefined) return { name: '', role: '', hidden: 'nothing has it', isBody: true };
    const [{ nodes }, seen] = await Promise.all([
      this.session.send('Accessibility.getPartialAXTree', { objectId, fetchRelatives: false }),
      this.session.send('Runtime.callFunctionOn', {
        objectId,
        functionDeclaration: `function () { return (${whyHidden.toString()})(this); }`,
        returnByValue: true,
      }),
      // It may have gone in between: who asks looks again.
    ]).catch(() => [{ nodes: [] }, { result: { value: 'it went away' } }] as const);
    const node = nodes.find(({ role }) => !IGNORED_ROLES.includes(String(role?.value)));
    const hidden = seen.result.value as string | null;
    return {
      name: String(node?.name?.value ?? '').trim(),
      role: String(node?.role?.value ?? ''),
      hidden,
      isBody: hidden === 'body',
    };
  }

  /** Presses Tab (`back`: with Shift) until what is called so has the focus; every stop on the way can be seen. */
  async tabTo(name: string | RegExp, { role, back = false }: { role?: string; back?: boolean } = {}): Promise<Focused> {
    const isIt = (focused: Focused) =>
      (typeof name === 'string' ? focused.name === name : name.test(focused.name)) &&
      (role === undefined || focused.role === role);
    // What is asked for may still be on its way from the gateway: a person goes round once more.
    const endsAt = Date.now() + ARRIVES_WITHIN_MS;
    for (let presses = 0; presses <= MOST_PRESSES || Date.now() < endsAt; presses++) {
      let focused = await this.focused();
      // What is on its way out is given a moment; behind the last control stands the window itself.
      if (focused.hidden !== null && !focused.isBody) focused = await this.settle(SETTLES_WITHIN_MS);
      if (!focused.isBody) this.see(focused);
      if (isIt(focused)) return focused;
      await this.page.keyboard.press(back ? 'Shift+Tab' : 'Tab');
    }
    throw new Error(`Tab never came to ${name}, but to: ${[...new Set(this.trail.slice(-MOST_PRESSES))].join(' | ')}`);
  }

  /** A key that does something: whatever it does, the focus is somewhere afterwards, where it can be seen. */
  async press(key: string): Promise<Focused> {
    await this.page.keyboard.press(key);
    return this.landed(key);
  }

  /** Tab to it, and Enter. */
  async choose(name: string | RegExp, options: { role?: string; back?: boolean } = {}): Promise<Focused> {
    await this.tabTo(name, options);
    return this.press('Enter');
  }

  /** Tab to a field, and write over what it holds. */
  async write(name: string | RegExp, text: string, options: { role?: string; back?: boolean } = {}): Promise<void> {
    await this.tabTo(name, options);
    await this.page.keyboard.press('ControlOrMeta+a');
    await this.page.keyboard.type(text);
  }

  /** Tab to a list of choices, and the letters of one. */
  async select(name: string | RegExp, letters: string): Promise<void> {
    await this.tabTo(name);
    await this.page.keyboard.type(letters);
  }

  /** Tab to the tabs, and arrows to one of them. */
  async openTab(name: string, { back = false }: { back?: boolean } = {}): Promise<void> {
    let focused = await this.tabTo(/./, { role: 'tab', back });
    const first = focused.name;
    while (focused.name !== name) {
      const before = focused.name;
      await this.page.keyboard.press('ArrowRight');
      for (let looks = 0; focused.name === before && looks < 50; looks++)
        focused = await this.settle(SETTLES_WITHIN_MS);
      if (focused.name === first) throw new Error(`no tab is called ${name}`);
    }
  }

  /** Until the focus rests on something that can be seen. */
  async landed(after: string): Promise<Focused> {
    const focused = await this.settle(LANDS_WITHIN_MS);
    const since = this.trail.at(-1);
    if (focused.isBody) throw new Error(`after ${after} on "${since}" the focus fell to <body>`);
    this.see(focused, `after ${after} on "${since}"`);
    return focused;
  }

  private async settle(withinMs: number): Promise<Focused> {
    let focused = await this.focused();
    for (const endsAt = Date.now() + withinMs; focused.hidden !== null && Date.now() < endsAt; ) {
      await this.page.waitForTimeout(20);
      focused = await this.focused();
    }
    return focused;
  }

  private see({ name, role, hidden }: Focused, when = 'by Tab'): void {
    const what = `${role} "${name}"`;
    this.trail.push(what);
    if (hidden !== null && hidden !== 'it went away') throw new Error(`${when}: ${what}: ${hidden}`);
  }
}

/** Runs in the page. */
function whyHidden(element: Element): string | null {
  if (element === document.body || element === document.documentElement) return 'body';
  const box = element.getBoundingClientRect();
  if (box.width === 0 || box.height === 0 || !element.checkVisibility({ visibilityProperty: true })) return 'not drawn';
  const [left, top] = [Math.max(0, box.left), Math.max(0, box.top)];
  const [right, bottom] = [Math.min(innerWidth, box.right), Math.min(innerHeight, box.bottom)];
  if (right - left < 1 || bottom - top < 1) return 'outside of the window';
  const isLoose = getComputedStyle(element).pointerEvents === 'none';
  const spots = [0.5, 0.1, 0.9].flatMap((x) => [0.5, 0.1, 0.9].map((y) => ({ x, y })));
  const isShown = spots.some(({ x, y }) => {
    const hit = document.elementFromPoint(left + (right - left) * x, top + (bottom - top) * y);
    return hit !== null && (element.contains(hit) || hit.contains(element) || isLoose);
  });
  if (!isShown) return 'behind something';
  // A page marks its heading.
  const marked = (element.matches('main') ? element.querySelector('h1') : null) ?? element;
  const { outlineStyle, outlineWidth, textDecorationLine } = getComputedStyle(marked);
  const isOutlined = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0;
  return isOutlined || (marked.matches('h1') && textDecorationLine === 'underline') ? null : 'not marked as focused';
}
