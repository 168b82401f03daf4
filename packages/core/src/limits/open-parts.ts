/**
 * Parts under way of things that have a place of their own, by key: answers within sessions. The store counts each of them
 * as a request under way; a key's limit is raised by as many, so that they take no place. Other processes' aren't known.
 */
export class OpenParts {
  private readonly counts = new Map<string, number>();

  add(keyId: string): void {
    this.counts.set(keyId, this.of(keyId) + 1);
  }

  remove(keyId: string): void {
    const left = this.of(keyId) - 1;
    if (left > 0) this.counts.set(keyId, left);
    else this.counts.delete(keyId);
  }

  of(keyId: string): number {
    return this.counts.get(keyId) ?? 0;
  }
}
