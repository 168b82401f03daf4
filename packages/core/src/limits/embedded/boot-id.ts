import { readFileSync } from 'node:fs';

/** '' where the system has none: then every start counts as the same boot. */
export function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
