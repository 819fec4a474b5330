import {
  ActionIcon,
  Group,
  Text,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { signOut } from '../session';
import { Logo, MoonIcon, SignOutIcon, SunIcon } from './icons';
import { useLiveState } from './live-context';

/** The bar on top: where we are, whether it is live, light or dark, and the way out. */
export function TopBar() {
  return (
    <header className="top-bar">
      <Link to="/" className="brand" aria-label="Unsilent, all conversations">
        <Logo />
        <Text component="span" fw={650}>
          Unsilent
        </Text>
      </Link>
      <Group gap="xs">
        <Link to="/audit" className="top-link" data-testid="to-audit">
          Audit
        </Link>
        <LiveSign />
        <ColorSchemeButton />
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label="Sign out"
          title="Sign out"
          onClick={signOut}
        >
          <SignOutIcon />
        </ActionIcon>
      </Group>
    </header>
  );
}

const SIGNS = {
  connecting: 'Connecting…',
  live: 'Live',
  reconnecting: 'Reconnecting…',
} as const;

function LiveSign() {
  const state = useLiveState();
  return (
    <span className="live" data-state={state} data-testid="live" role="status">
      <span className="live-dot" aria-hidden />
      {SIGNS[state]}
    </span>
  );
}

function ColorSchemeButton() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const other = scheme === 'light' ? 'dark' : 'light';
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={`Switch to ${other} colours`}
      title={`Switch to ${other} colours`}
      onClick={() => {
        setColorScheme(other);
      }}
    >
      {scheme === 'light' ? <MoonIcon /> : <SunIcon />}
    </ActionIcon>
  );
}
