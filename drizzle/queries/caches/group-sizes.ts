import type { SemanticGroup } from '@llm0/core/cache/semantic/semantic-store';

const KEPT_MS = 60_000;
const MAX_GROUPS = 10_000;

/** Counts the rows of large groups at most once a minute each; the count only selects the search method. */
export class GroupSizes {
  private readonly sizes = new Map<string, { readonly size: Promise<number>; readonly untilMs: number }>();

  constructor(private readonly count: (group: SemanticGroup) => Promise<number>) {}

  sizeOf(group: SemanticGroup): Promise<number> {
    const key = `${group.projectId} ${group.provider} ${group.model} ${group.fingerprint}`;
    const known = this.sizes.get(key);
    const nowMs = performance.now();
    if (known !== undefined && nowMs < known.untilMs) return known.size;
    if (this.sizes.size >= MAX_GROUPS) this.sizes.clear();
    const size = this.count(group);
    this.sizes.set(key, { size, untilMs: nowMs + KEPT_MS });
    size.catch(() => this.sizes.delete(key));
    return size;
  }
}
