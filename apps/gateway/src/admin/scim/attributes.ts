// The attributes that the gateway keeps. Whatever else is sent is ignored, as RFC 7644 permits: less of people is stored.

export interface Attribute {
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'complex' | 'reference' | 'dateTime';
  readonly description: string;
  readonly isMulti?: true;
  readonly isRequired?: true;
  readonly isExact?: true;
  readonly isUnique?: true;
  readonly mutability?: 'readOnly' | 'immutable';
  /** Types of the resources that it leads to. */
  readonly leadsTo?: readonly string[];
  readonly canonicalValues?: readonly string[];
  readonly parts?: readonly Attribute[];
}

export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group';

const text = (name: string, description: string, more: Partial<Attribute> = {}): Attribute => ({
  ...{ name, type: 'string', description, ...more },
});

/** Of every resource; not part of its schema. */
export const COMMON: readonly Attribute[] = [
  text('schemas', 'Schemas of the resource', { mutability: 'readOnly', isMulti: true, isExact: true }),
  text('id', 'Id of the resource', { mutability: 'readOnly', isExact: true }),
  text('externalId', 'Id of the resource at the client', { isExact: true }),
  {
    ...{ name: 'meta', type: 'complex', description: 'About the resource', mutability: 'readOnly' },
    parts: [
      { name: 'created', type: 'dateTime', description: 'When it was made', mutability: 'readOnly' },
      { name: 'lastModified', type: 'dateTime', description: 'When it last changed', mutability: 'readOnly' },
    ],
  },
];

export const USER_ATTRIBUTES: readonly Attribute[] = [
  text('userName', 'Unique name of the user, such as the address', { isRequired: true, isUnique: true }),
  {
    ...{ name: 'name', type: 'complex', description: 'Parts of the name' },
    parts: [text('formatted', 'The whole name'), text('familyName', 'Family name'), text('givenName', 'Given name')],
  },
  text('displayName', 'The name as people see it'),
  { name: 'active', type: 'boolean', description: 'false ends sessions and stops keys and tokens' },
  {
    ...{ name: 'emails', type: 'complex', description: 'Addresses; the primary one counts', isMulti: true },
    parts: [
      text('value', 'The address'),
      text('display', 'The address as people see it'),
      text('type', 'Its kind', { canonicalValues: ['work', 'home', 'other'] }),
      { name: 'primary', type: 'boolean', description: 'At most one is' },
    ],
  },
  {
    ...{ name: 'groups', type: 'complex', description: 'Groups of the user', isMulti: true, mutability: 'readOnly' },
    parts: [
      text('value', 'Id of the group', { mutability: 'readOnly', isExact: true }),
      {
        ...{ name: '$ref', type: 'reference', description: 'Address of the group', mutability: 'readOnly' },
        leadsTo: ['Group'],
      },
      text('display', 'Name of the group', { mutability: 'readOnly' }),
    ],
  },
];

export const GROUP_ATTRIBUTES: readonly Attribute[] = [
  text('displayName', 'Unique name; group_roles refer to it', { isRequired: true, isUnique: true, isExact: true }),
  {
    ...{ name: 'members', type: 'complex', description: 'Users of the group', isMulti: true },
    parts: [
      text('value', 'Id of the user', { mutability: 'immutable', isExact: true }),
      {
        ...{ name: '$ref', type: 'reference', description: 'Address of the user', mutability: 'immutable' },
        leadsTo: ['User'],
      },
      text('type', 'User', { mutability: 'immutable', canonicalValues: ['User'] }),
    ],
  },
];

/** A kind of resource as its edge sees it. */
export interface Shape {
  readonly name: 'User' | 'Group';
  readonly path: '/Users' | '/Groups';
  readonly schema: string;
  readonly attributes: readonly Attribute[];
}

export const USER_SHAPE: Shape = {
  ...{ name: 'User', path: '/Users', schema: USER_SCHEMA, attributes: USER_ATTRIBUTES },
};
export const GROUP_SHAPE: Shape = {
  ...{ name: 'Group', path: '/Groups', schema: GROUP_SCHEMA, attributes: GROUP_ATTRIBUTES },
};

/** Names have no case. */
export function findAttribute(attributes: readonly Attribute[] | undefined, name: string): Attribute | undefined {
  const folded = name.toLowerCase();
  return attributes?.find((one) => one.name.toLowerCase() === folded);
}

/** The name without the resource's own schema before it. */
export function withoutSchema({ schema }: Shape, name: string): string {
  const isFull = name.slice(0, schema.length + 1).toLowerCase() === `${schema}:`.toLowerCase();
  return isFull ? name.slice(schema.length + 1) : name;
}

/** An attribute and its part by `name` or `name.part`; undefined for what the gateway doesn't keep. */
export function resolveName(shape: Shape, name: string) {
  const [first = '', second, ...more] = withoutSchema(shape, name).split('.');
  const attribute = findAttribute([...COMMON, ...shape.attributes], first);
  if (attribute === undefined || more.length > 0) return undefined;
  if (second === undefined) return { attribute };
  const part = findAttribute(attribute.parts, second);
  return part && { attribute, part };
}
