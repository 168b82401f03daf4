import { installPythonSdk, type PythonSdk } from './install-python-sdk';

/** The official SDK: https://pypi.org/project/openai/ */
export const PYTHON_OPENAI = 'openai==3.54.0';

export function installPythonOpenai(): Promise<PythonSdk> {
  return installPythonSdk(PYTHON_OPENAI);
}
