/** Suffixes of a family's name: a date or build number (a pinned version), `-preview`, `-latest`. */
const VERSION_STAMP = /-(?:\d{4}-\d{2}-\d{2}|\d{2}-\d{4}|\d{2}-\d{2}|\d{8}|\d{3,4})$/;
const CHANNEL = /-(?:preview|latest)$/;

export interface ModelFamily {
  /** The name without dates, `-preview` and `-latest`. */
  readonly family: string;
  /** An exact version: it answers itself or, visibly, another target; never replaced in advance. */
  readonly isPinned: boolean;
}

/** The day that a name is stamped with, as the vendors stamp them, in milliseconds UTC; undefined for none that was. */
export function readReleaseMs(model: string): number | undefined {
  const [, year = '', month = '', day = ''] = RELEASE_DAY.exec(model) ?? [];
  const ms = Date.parse(`${year}-${month}-${day}T00:00:00Z`);
  return Number.isNaN(ms) ? undefined : ms;
}

const RELEASE_DAY = /-(20[2-4]\d)-?([01]\d)-?([0-3]\d)(?![\d])/;

/** Longer names don't exist, so parsing them would waste time. */
const MAX_NAME_CHARACTERS = 256;

/** `gpt-4o-mini-2024-07-18` → family `gpt-4o-mini`, pinned. */
export function readModelFamily(model: string): ModelFamily {
  if (model.length > MAX_NAME_CHARACTERS) return { family: model, isPinned: false };
  let family = model;
  let isPinned = false;
  for (;;) {
    const unstamped = family.replace(VERSION_STAMP, '');
    if (unstamped !== family) isPinned = true;
    const next = unstamped.replace(CHANNEL, '');
    if (next === family) return { family, isPinned };
    family = next;
  }
}
