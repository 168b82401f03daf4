const TABBABLE = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';
/** A control may be disabled for a moment. A dialog that opens or closes moves the focus itself. */
const PATIENCE_MS = 400;
/** One that asks for more is used again once that is there. */
const BUSY_MS = 10_000;

const isUsable = (element: HTMLElement) =>
  element.isConnected && element.checkVisibility({ visibilityProperty: true }) && !element.matches(':disabled');

/**
 * Keeps keyboard focus when its element disappears or is disabled. Focus moves to the replacement, a neighbour or the
 * page. Returns a function that stops it.
 */
export function keepFocus(): () => void {
  let last: HTMLElement | null = null;
  /** Ancestors, nearest first: a removed element doesn't know its place any more. */
  let around: HTMLElement[] = [];
  /** False for a mouse: nobody looks for the focus then, and the page stays where it is. */
  let isShown = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onFocus = ({ target }: FocusEvent) => {
    if (!(target instanceof HTMLElement) || target === document.body) return;
    last = target;
    around = ancestorsOf(target);
    isShown = target.matches(':focus-visible');
  };
  // A click outside of all controls removes focus on purpose.
  const forget = () => {
    last = null;
  };
  const isLost = () => {
    const { activeElement } = document;
    const isNowhere = activeElement === null || activeElement === document.body || activeElement === last;
    return last !== null && isNowhere && !(activeElement === last && isUsable(last));
  };
  const check = () => {
    if (!isLost() || last === null) return;
    clearTimeout(timer);
    if (isUsable(last)) last.focus({ preventScroll: true });
    else timer = setTimeout(rescue, patienceMs(last));
  };
  const rescue = () => {
    if (!isLost() || last === null) return;
    const place = placeBeside(last, around);
    place?.focus({ preventScroll: place.id === 'main' || !isShown });
  };
  const changes = new MutationObserver(() => setTimeout(check));
  const watched = {
    subtree: true,
    childList: true,
    attributes: true,
    attributeFilter: ['disabled', 'hidden', 'class'],
  };
  changes.observe(document.body, watched);
  document.addEventListener('focusin', onFocus);
  document.addEventListener('pointerdown', forget, true);
  return () => {
    clearTimeout(timer);
    changes.disconnect();
    document.removeEventListener('focusin', onFocus);
    document.removeEventListener('pointerdown', forget, true);
  };
}

function patienceMs(lost: HTMLElement): number {
  if (!lost.isConnected || !lost.matches(':disabled')) return 0;
  return lost.ariaBusy === 'true' ? BUSY_MS : PATIENCE_MS;
}

function ancestorsOf(element: HTMLElement): HTMLElement[] {
  const found: HTMLElement[] = [];
  for (let one = element.parentElement; one !== null; one = one.parentElement) found.push(one);
  return found;
}

/** The nearest control in the smallest remaining part of the page; else the page itself. */
function placeBeside(lost: HTMLElement, around: readonly HTMLElement[]): HTMLElement | null {
  for (const part of around) {
    if (!part.isConnected || !part.checkVisibility()) continue;
    if (part.matches('#main, body')) break;
    if (part.matches('[role=dialog]')) return part;
    const controls = [...part.querySelectorAll<HTMLElement>(TABBABLE)].filter(isUsable);
    const before = controls.filter(
      (one) => (one.compareDocumentPosition(lost) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0 && lost.isConnected,
    );
    const nearest = before.at(-1) ?? controls[0];
    if (nearest !== undefined && part.closest('#main, [role=dialog], aside') !== null) return nearest;
  }
  return document.getElementById('main');
}
