import { useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { onExpiredSession } from '../../api/expired-session';
import { useSession, useSignOut } from '../../api/session';
import { Button } from '../../ui/button';
import { ErrorState } from '../../ui/error-state';
import * as icons from '../../ui/icons';
import { PaletteButton, PaletteHost } from '../palette/palette-button';
import { keepFocus } from './keep-focus';
import { MenuIcon, PageMenu } from './page-menu';
import { PermittedPage } from './permitted-page';
import { StaleSignIn } from './stale-sign-in';
import { useTheme } from './theme';
import { useMenu } from './use-menu';

const ExpiredSessionDialog = lazy(() =>
  import('./expired-session-dialog').then((module) => ({ default: module.ExpiredSessionDialog })),
);
const SignInPage = lazy(() => import('../sign-in/sign-in-page').then((module) => ({ default: module.SignInPage })));

const REST_MS = 3000;

/** Runs once the page rests; returns a function that stops it. */
function whenIdle(run: () => void): () => void {
  const ask = globalThis.requestIdleCallback ?? setTimeout;
  const timer = setTimeout(() => ask(run), REST_MS);
  return () => clearTimeout(timer);
}

/** Frame of all pages: user and navigation. */
export function Shell({ preload }: { readonly preload: () => void }) {
  const session = useSession();
  const { menu, opener, isOpen, open, close, goBack } = useMenu(
    useRouterState({ select: (state) => state.location.pathname }),
  );
  useEffect(keepFocus, []);
  const isSignedIn = session.data !== null && session.data !== undefined;
  useEffect(() => (isSignedIn ? whenIdle(preload) : undefined), [isSignedIn, preload]);
  if (session.isPending) return null;
  // Who is signed in stays so while the gateway is away.
  if (session.error && session.data === undefined) {
    return (
      <div className="mx-auto max-w-md p-8">
        <ErrorState error={session.error} onRetry={() => void session.refetch()} />
      </div>
    );
  }
  if (session.data === null) {
    return (
      <Suspense>
        <SignInPage />
      </Suspense>
    );
  }
  return (
    <div className="flex min-h-dvh">
      <a href="#main" className="sr-only focus:not-sr-only focus:fixed focus:z-50 focus:bg-panel focus:p-2">
        Skip to content
      </a>
      <div ref={menu} className="contents">
        <aside
          className={`fixed inset-y-0 left-0 z-30 w-52 flex-col border-r bg-panel print:hidden! md:sticky md:top-0 md:flex md:h-dvh ${isOpen ? 'flex shadow-xl' : 'hidden'}`}
        >
          <Navigation onChosen={close} />
        </aside>
        {isOpen && (
          <button
            type="button"
            aria-label="Close the menu"
            className="fixed inset-0 z-20 bg-black/30 -outline-offset-2 md:hidden"
            onClick={goBack}
          />
        )}
      </div>
      <div className="flex min-w-0 flex-1 flex-col">
        <header className="sticky top-0 z-10 flex h-11 items-center gap-2 border-b bg-panel px-3 md:hidden print:hidden">
          <Button ref={opener} kind="ghost" aria-label="Menu" aria-expanded={isOpen} onClick={open}>
            <MenuIcon />
          </Button>
          <span className="font-semibold">LLM0 Gateway</span>
          <PaletteButton isSmall />
        </header>
        <PermittedPage permissions={session.data.permissions} />
      </div>
      <PaletteHost />
      <ExpiredSession />
      <StaleSignIn />
    </div>
  );
}

function Navigation({ onChosen }: { readonly onChosen: () => void }) {
  const { data: session } = useSession();
  const signOut = useSignOut();
  const [theme, toggleTheme] = useTheme();
  return (
    <>
      <div className="flex h-12 items-center gap-2 px-4 font-semibold">
        <img src="/icon.svg" alt="" width="20" height="20" />
        LLM0 Gateway
      </div>
      <PaletteButton />
      <PageMenu onChosen={onChosen} />
      <div className="flex items-center justify-between border-t px-3 py-2 text-xs text-muted">
        <span className="min-w-0">
          <span className="block truncate" title={session?.name}>
            {session?.name}
          </span>
          <span className="block truncate text-2xs text-faint">{session?.user?.name ?? session?.role}</span>
        </span>
        <span className="flex shrink-0">
          <Button
            kind="ghost"
            size="small"
            aria-label={theme === 'dark' ? 'Light theme' : 'Dark theme'}
            onClick={toggleTheme}
          >
            {theme === 'dark' ? <icons.Sun /> : <icons.Moon />}
          </Button>
          <Button kind="ghost" size="small" aria-label="Sign out" onClick={() => signOut.mutate()}>
            <icons.SignOut />
          </Button>
        </span>
      </div>
    </>
  );
}

function ExpiredSession() {
  const [isExpired, setIsExpired] = useState(false);
  useEffect(() => onExpiredSession(setIsExpired), []);
  return <Suspense>{isExpired && <ExpiredSessionDialog />}</Suspense>;
}
