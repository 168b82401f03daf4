import { type Attribute, GROUP_SHAPE, type Shape, USER_SHAPE } from './attributes';

export const SHAPES: readonly Shape[] = [USER_SHAPE, GROUP_SHAPE];
/** Resources in one answer. */
export const MOST_RESULTS = 1000;

const DESCRIPTIONS = { User: 'Person who may sign in', Group: 'Group whose roles group_roles sets' } as const;
const core = (name: string) => `urn:ietf:params:scim:schemas:core:2.0:${name}`;

/** What the gateway supports of RFC 7644. */
export const describeService = (base: string) => ({
  schemas: [core('ServiceProviderConfig')],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: MOST_RESULTS },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      ...{ type: 'oauthbearertoken', name: 'Bearer token', primary: true },
      description: 'Token of the role scim, as Authorization: Bearer <token>',
      specUri: 'https://www.rfc-editor.org/rfc/rfc6750',
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
});

export const describeType = ({ name, path, schema }: Shape, base: string) => ({
  schemas: [core('ResourceType')],
  ...{ id: name, name, endpoint: path, description: DESCRIPTIONS[name], schema, schemaExtensions: [] },
  meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${name}` },
});

export const describeSchema = ({ name, schema, attributes }: Shape, base: string) => ({
  schemas: [core('Schema')],
  ...{ id: schema, name, description: DESCRIPTIONS[name], attributes: attributes.map(describeAttribute) },
  meta: { resourceType: 'Schema', location: `${base}/Schemas/${schema}` },
});

function describeAttribute(attribute: Attribute): object {
  const { name, type, description, canonicalValues, leadsTo, parts } = attribute;
  const hasText = type === 'string' || type === 'reference';
  return {
    ...{ name, type, multiValued: attribute.isMulti ?? false, description, required: attribute.isRequired ?? false },
    ...(hasText && { caseExact: attribute.isExact ?? type === 'reference' }),
    ...{ mutability: attribute.mutability ?? 'readWrite', returned: 'default' },
    ...{ uniqueness: attribute.isUnique ? 'server' : 'none' },
    ...(canonicalValues && { canonicalValues }),
    ...(leadsTo && { referenceTypes: leadsTo }),
    ...(parts && { subAttributes: parts.map(describeAttribute) }),
  };
}
