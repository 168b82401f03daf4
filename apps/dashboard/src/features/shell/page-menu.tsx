import { Link } from '@tanstack/react-router';
import { useId } from 'react';
import { useSession } from '../../api/session';
import { useAlerts } from '../../api/settings';
import { Menu } from '../../ui/icons';
import { callingAlerts } from '../settings/prepare-firing';
import { SECTIONS, type Section } from './pages';

interface Props {
  readonly onChosen: () => void;
}

/** Links to the pages of the session's roles, by section. */
export function PageMenu({ onChosen }: Props) {
  const { data: session } = useSession();
  const seen = (section: Section) => section.pages.filter(({ needs }) => session?.permissions.includes(needs));
  const sections = SECTIONS.map((section) => ({ ...section, pages: seen(section) })).filter(
    ({ pages }) => pages.length > 0,
  );
  return (
    <nav aria-label="Pages" className="flex flex-1 flex-col gap-2 overflow-y-auto px-2 py-1">
      {sections.map((section) => (
        <MenuSection key={section.name} {...{ section, onChosen }} />
      ))}
    </nav>
  );
}

function useFiringCount(): number {
  const { data } = useAlerts();
  return callingAlerts(data?.data ?? [], Date.now()).length;
}

/** Of the button of a closed menu: with a dot while an alert fires. */
export function MenuIcon() {
  const isFiring = useFiringCount() > 0;
  return (
    <span className="relative">
      <Menu />
      {isFiring && <span aria-hidden="true" className="absolute -top-1 -right-1 size-2 rounded-full bg-bad" />}
    </span>
  );
}

/** Alerts that fire, on every page: their message may have failed. */
function FiringCount() {
  const length = useFiringCount();
  if (length === 0) return null;
  return (
    <span className="nums ml-auto rounded-full bg-bad px-1.5 text-2xs font-medium text-panel">
      {length}
      <span className="sr-only"> firing</span>
    </span>
  );
}

function MenuSection({ section: { name, pages }, onChosen }: Props & { readonly section: Section }) {
  const nameId = useId();
  return (
    <div>
      <p id={nameId} className="px-2 py-0.5 text-2xs font-medium text-faint">
        {name}
      </p>
      <ul aria-labelledby={nameId} className="flex flex-col gap-px">
        {pages.map(({ to, label, icon: Icon }) => (
          <li key={to}>
            <Link
              to={to}
              onClick={onChosen}
              activeOptions={{ exact: to === '/', includeSearch: false }}
              className="flex h-10 items-center gap-2.5 rounded-md px-2 text-muted hover:bg-hover hover:text-text aria-[current=page]:bg-hover aria-[current=page]:font-medium aria-[current=page]:text-text md:h-7 forced-colors:aria-[current=page]:outline"
            >
              <Icon className="shrink-0" />
              {label}
              {to === '/alerts' && <FiringCount />}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
