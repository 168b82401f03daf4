import { devDependencies } from '../package.json';

type NpmPackage = keyof typeof devDependencies;

/** Packages of the npm registry with the versions that are installed here. */
export function npmLibrary(...names: readonly NpmPackage[]): string {
  return names.map((name) => `\`${name}\` ${devDependencies[name]}`).join(', ');
}

/** A package of the Python index, from its requirement `name==version`. */
export function pythonLibrary(requirement: `${string}==${string}`): string {
  const [name, version] = requirement.split('==');
  return `\`${name}\` ${version} (Python)`;
}
