import type { Attributes, AttributeValue } from '@llm0/core/tracing/span';
import { ATTR, BEFORE, OWN } from './names';

type Given = AttributeValue | undefined | null;

/** Attributes under their wire names; skips missing values. */
export class AttributeWriter {
  private readonly written: Record<string, AttributeValue> = {};

  /** `onlyLatest`: without the names of before. */
  constructor(private readonly onlyLatest: boolean) {}

  /** Names of the conventions, and of before where something was called otherwise. */
  add(values: { readonly [K in keyof typeof ATTR]?: Given }): this {
    for (const key of Object.keys(values) as (keyof typeof ATTR)[]) {
      this.set(ATTR[key], values[key]);
      if (!this.onlyLatest && key in BEFORE) this.set(BEFORE[key as keyof typeof BEFORE], values[key]);
    }
    return this;
  }

  /** Names of ours. */
  addOwn(values: { readonly [K in keyof typeof OWN]?: Given }): this {
    for (const key of Object.keys(values) as (keyof typeof OWN)[]) this.set(OWN[key], values[key]);
    return this;
  }

  /** Names that end in something that is not known before: labels, classes of tokens. */
  addUnder(prefix: 'label' | 'costPart', values: Readonly<Record<string, Given>> | undefined): this {
    for (const name in values) this.set(OWN[prefix] + name, values[name]);
    return this;
  }

  get attributes(): Attributes {
    return this.written;
  }

  private set(name: string, value: Given): void {
    if (value === undefined || value === null) return;
    if (typeof value === 'number' && !Number.isFinite(value)) return;
    this.written[name] = value;
  }
}
