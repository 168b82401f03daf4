import { useEffect } from 'react';
import { Field } from '../../ui/form';
import type { WidgetProps } from '../forms/prepare-form';
import { TeamPicker } from './team-picker';
import { useTeams } from './use-teams';

/** The team that owns a project; people choose among their own. */
export function TeamField({ label, error, value, onValue }: WidgetProps) {
  const { data: teams } = useTeams();
  const all = teams?.rows ?? [];
  // The default team is the only one on a new gateway, and people often have one.
  const usual = all.length === 1 ? all[0] : all.find(({ name }) => name === 'default');
  const first = value === '' ? usual?.id : undefined;
  useEffect(() => {
    if (first !== undefined) onValue(first);
  }, [first, onValue]);
  return <Field {...{ label, error }}>{(wiring) => <TeamPicker {...wiring} value={value} onValue={onValue} />}</Field>;
}
