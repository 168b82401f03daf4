import { installPythonSdk, type PythonSdk } from './install-python-sdk';

/** The official SDK: https://pypi.org/project/openai/ */
export function installPythonOpenai(): Promise<PythonSdk> {
  return installPythonSdk('openai==3.54.0');
}
