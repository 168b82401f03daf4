import { installPythonSdk, type PythonSdk } from './install-python-sdk';

/** The official SDK: https://pypi.org/project/anthropic/ */
export const PYTHON_ANTHROPIC = 'anthropic==2.12.0';

export function installPythonAnthropic(): Promise<PythonSdk> {
  return installPythonSdk(PYTHON_ANTHROPIC);
}
