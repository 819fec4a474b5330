import { Outlet } from '@tanstack/react-router';
import { useToken } from '../session';
import { LiveProvider } from './LiveProvider';
import { SignIn } from './SignIn';
import { TopBar } from './TopBar';

/** The frame of every page: sign in first, then the bar and the page under it. */
export function Shell() {
  const token = useToken();
  if (token === null) return <SignIn />;
  return (
    <LiveProvider token={token}>
      <div className="shell">
        <TopBar />
        <Outlet />
      </div>
    </LiveProvider>
  );
}
