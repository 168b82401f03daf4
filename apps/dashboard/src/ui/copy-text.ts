/**
 * Copies text; false if the browser refuses. Over plain HTTP there is no `navigator.clipboard`, so it copies a
 * selection instead. `near`: focus anchor within a dialog.
 */
export async function copyText(text: string, near: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text, near);
  }
}

function copySelected(text: string, near: HTMLElement): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.readOnly = true;
  area.setAttribute('aria-hidden', 'true');
  area.style.cssText = 'position:fixed;top:0;left:0;width:1px;height:1px;opacity:0';
  // A dialog takes the focus back from outside elements.
  (near.closest('[role=dialog]') ?? document.body).append(area);
  try {
    area.select();
    return document.execCommand('copy');
  } catch {
    return false;
  } finally {
    area.remove();
    near.focus({ preventScroll: true });
  }
}
