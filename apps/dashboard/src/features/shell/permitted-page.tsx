import { Link, Navigate, Outlet, useRouterState } from '@tanstack/react-router';
import type { Permission } from '../../api/session';
import { EmptyState } from '../../ui/empty-state';
import { PageFrame } from './page-frame';
import { landingOf } from './prepare-landing';

/** The page of the address, if it is for the session's roles; else the way to one that is. */
export function PermittedPage({ permissions }: { readonly permissions: readonly Permission[] }) {
  const pathname = useRouterState({ select: (state) => state.location.pathname });
  const landing = landingOf(permissions, pathname);
  if (landing.kind === 'shown') return <Outlet />;
  if (landing.kind === 'elsewhere') return <Navigate to={landing.to} replace />;
  if (landing.kind === 'no_role') {
    return (
      <PageFrame title="Welcome">
        <EmptyState title="You belong to no team yet">
          Ask an admin to add you to a team, then load this page again.
        </EmptyState>
      </PageFrame>
    );
  }
  return (
    <PageFrame title={landing.label}>
      <EmptyState title="Your role doesn't include this page">
        Ask an admin of the team for another role, or go to{' '}
        <Link to={landing.first.to} className="underline">
          {landing.first.label}
        </Link>
        .
      </EmptyState>
    </PageFrame>
  );
}
