import type { AdmitRequest, PrincipalVersions, TablesVersion } from '../hot-store';
import type { EmbeddedState } from './state';

/** A single process has read its own changes before it answers. */
export const ONE_READER: TablesVersion = { raise: async () => {}, refresh: (read) => read() };

export function isPrincipalKnown(state: EmbeddedState, known: PrincipalVersions): boolean {
  const project = state.projects.get(known.projectId);
  return project?.version === known.projectVersion && project?.keyVersions.get(known.keyId) === known.keyVersion;
}

export function checkVersions(state: EmbeddedState, request: AdmitRequest): 'same' | 'raise' | 'stale' {
  if (isPrincipalKnown(state, request)) return 'same';
  const project = state.projects.get(request.projectId);
  const keyVersion = project?.keyVersions.get(request.keyId);
  const isNewer = (project?.version ?? 0) > request.projectVersion || (keyVersion ?? 0) > request.keyVersion;
  return !request.reloaded || isNewer ? 'stale' : 'raise';
}
