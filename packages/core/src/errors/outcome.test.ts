import { describe, expect, test } from 'bun:test';
import { ERROR_TABLE } from './error-table';
import { domainOf, FAILURE_CODES, failureRate, outcomeOf } from './outcome';

describe('the rule for failures', () => {
  const codes = Object.entries(ERROR_TABLE);
  const of = (domain: string) => codes.filter(([code]) => domainOf(code) === domain).map(([code]) => code);

  test('every code is the fault of somebody', () => {
    expect(of('provider')).toEqual([
      ...['upstream_error', 'upstream_unavailable', 'upstream_rate_limited', 'upstream_timeout'],
    ]);
    expect(of('gateway')).toEqual(['overloaded', 'store_unavailable', 'internal']);
    const isRefusal = (status: string) => status === 'rate_limited' || status === 'cap_exceeded';
    expect(of('policy')).toEqual(codes.filter(([, { logStatus }]) => isRefusal(logStatus)).map(([code]) => code));
    expect(of('caller')).toContain('invalid_json');
    const aborted = codes.filter(([, { logStatus }]) => logStatus === 'aborted').map(([code]) => code);
    expect(of('aborted')).toEqual(aborted);
  });

  test('an error that provider and gateway are not to blame for is one of the caller', () => {
    const errors = codes.filter(([, { logStatus }]) => logStatus === 'error').map(([code]) => code);
    const failures = errors.filter((code) => outcomeOf('error', code) === 'error');
    expect(failures).toEqual(errors.filter((code) => FAILURE_CODES.includes(code)));
    expect(outcomeOf('error', 'model_not_allowed')).toBe('caller_error');
    expect(outcomeOf('error', null)).toBe('error');
    expect([outcomeOf('aborted', 'client_closed'), outcomeOf('success', null)]).toEqual(['aborted', 'success']);
  });

  test('the rate is over answers and failures', () => {
    expect([failureRate({ success: 7, failures: 3 }), failureRate({ success: 0, failures: 0 })]).toEqual([0.3, null]);
  });
});
