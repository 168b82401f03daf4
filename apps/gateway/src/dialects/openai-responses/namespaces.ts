import type { JsonObject } from '@llm0/core/chat/json';
import { isObject, textOf } from '../read-fields';

/** A tool as this format names it. */
export interface ToolPlace {
  readonly name: string;
  /** Set for a tool within a group. */
  readonly namespace?: string;
}

const SEPARATOR = '__';

/** The one name by which other vendors know a tool: unlike that of any other group. */
export function joinName({ name, namespace }: ToolPlace): string {
  if (namespace === undefined) return name;
  return namespace.endsWith(SEPARATOR) ? namespace + name : namespace + SEPARATOR + name;
}

/** Tools of a `namespace`, each as a separate tool. */
export function namespaceTools(item: JsonObject): readonly { readonly tool: JsonObject; readonly place: ToolPlace }[] {
  const namespace = textOf(item.name);
  const tools = Array.isArray(item.tools) ? item.tools.filter(isObject) : [];
  return tools.map((tool) => ({ tool, place: { name: textOf(tool.name) ?? '', namespace } }));
}

/** Groups of the request's tools, by their names for other vendors. */
export function toolPlaces(body: JsonObject | undefined): ReadonlyMap<string, ToolPlace> {
  const tools = Array.isArray(body?.tools) ? body.tools.filter(isObject) : [];
  const places = tools
    .filter(({ type }) => type === 'namespace')
    .flatMap(namespaceTools)
    .map(({ place }) => [joinName(place), place] as const);
  return new Map(places);
}
