import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1/HTTPRoute';
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor';
import Ajv2020 from 'ajv/dist/2020';
import type { Manifest } from './render-chart';

type Check = (manifest: Manifest) => string | undefined;

/** Kinds that are no part of Kubernetes itself. */
const FOREIGN: Readonly<Record<string, new (data: never) => { validate(): void }>> = { HTTPRoute, ServiceMonitor };

/** What is wrong with a manifest by the strict schemas of a version (`findSchemas`); undefined where nothing is. */
export function createCheck(schemas: string, version: string): Check {
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false });
  const read = (file: string) => JSON.parse(readFileSync(join(schemas, version, file), 'utf8'));
  ajv.addSchema({ ...read('_definitions.json'), $id: 'https://schemas.test/_definitions.json' });
  return (manifest) => {
    const { apiVersion, kind, metadata } = manifest;
    const Foreign = Object.hasOwn(FOREIGN, kind) ? FOREIGN[kind] : undefined;
    if (Foreign !== undefined) return complaintOf(() => new Foreign(manifest as never).validate());
    const [group, apiRevision] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    const place = [kind.toLowerCase(), group?.split('.')[0], apiRevision].filter((part) => part !== '').join('-');
    const $id = `https://schemas.test/${place}.json`;
    const validate = ajv.getSchema($id) ?? ajv.compile({ ...read(`${place}.json`), $id });
    return validate(manifest) ? undefined : `${kind} ${metadata.name}: ${ajv.errorsText(validate.errors)}`;
  };
}

function complaintOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return String(error);
  }
}
