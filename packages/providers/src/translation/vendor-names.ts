import { createHash } from 'node:crypto';
import type { ChatRequest } from '@llm0/core/chat/request';

/** A vendor's rule for names of tools or ids of calls. */
export interface NameRule {
  readonly valid: RegExp;
  /** Characters that are replaced by `_`. */
  readonly forbidden: RegExp;
  readonly firstCharacter?: RegExp;
  readonly maxLength: number;
}

const HASH_LENGTH = 8;

/** The name itself where the vendor takes it, else one that is always the same and collides with no other. */
export function toVendorName(name: string, rule: NameRule): string {
  if (rule.valid.test(name) && name.length <= rule.maxLength) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_LENGTH);
  const readable = name.replace(rule.forbidden, '_').slice(0, rule.maxLength - HASH_LENGTH - 2);
  const prefix = rule.firstCharacter?.test(readable) === false ? '_' : '';
  return `${prefix}${readable}_${hash}`;
}

/** The tool names of one request, in the vendor's form and back. */
export class ToolNames {
  private readonly ours = new Map<string, string>();

  constructor(
    request: Pick<ChatRequest, 'tools' | 'messages'>,
    private readonly rule: NameRule,
  ) {
    for (const tool of request.tools ?? []) if (tool.type === 'function') this.add(tool.name);
    for (const message of request.messages) {
      if (message.role === 'assistant') for (const call of message.toolCalls ?? []) this.add(call.name);
    }
  }

  toVendor(name: string): string {
    return toVendorName(name, this.rule);
  }

  /** The caller's own name of a tool that the vendor calls. */
  toOurs(vendorName: string): string {
    return this.ours.get(vendorName) ?? vendorName;
  }

  private add(name: string): void {
    const vendorName = this.toVendor(name);
    if (vendorName !== name) this.ours.set(vendorName, name);
  }
}
