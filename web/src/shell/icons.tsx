import type { ReactNode } from 'react';
import type { Channel } from '../generated/api';
import { CHANNEL_NAMES } from '../words';

function Icon({ children, size = 18 }: { readonly children: ReactNode; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden
      focusable="false"
    >
      {children}
    </svg>
  );
}

/** The product's sign: a speech bubble that is being answered. */
export function Logo() {
  return (
    <svg width="28" height="28" viewBox="0 0 32 32" aria-hidden focusable="false">
      <rect width="32" height="32" rx="8" fill="var(--mantine-color-cyan-9)" />
      <path
        d="M7 9.5A2.5 2.5 0 0 1 9.5 7h13A2.5 2.5 0 0 1 25 9.500v8a2.500 2.500 0 0 1-2.500 2.500H15l-5 5v-5h-.5A2.500 2.500 0 0 1 7 17.500z"
        fill="#fff"
      />
      {[12, 16, 20].map((cx) => (
        <circle key={cx} cx={cx} cy="13.500" r="1.600" fill="var(--mantine-color-cyan-9)" />
      ))}
    </svg>
  );
}

export const MoonIcon = () => (
  <Icon>
    <path d="M20 14.500A8 8 0 1 1 9.500 4a6.500 6.500 0 0 0 10.500 10.500z" />
  </Icon>
);

export const SunIcon = () => (
  <Icon>
    <circle cx="12" cy="12" r="4" />
    <path d="M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.400 1.400M17.600 17.600 19 19M5 19l1.400-1.400M17.600 6.400 19 5" />
  </Icon>
);

export const SignOutIcon = () => (
  <Icon>
    <path d="M14 4h-7a2 2 0 0 0-2 2v12a2 2 0 0 0 2 2h7M10 12h10M17 8.500 20.500 12 17 15.500" />
  </Icon>
);

export const BackIcon = () => (
  <Icon>
    <path d="M15 5l-7 7 7 7" />
  </Icon>
);

export const SearchIcon = () => (
  <Icon size={16}>
    <circle cx="11" cy="11" r="6.500" />
    <path d="M16 16l4 4" />
  </Icon>
);

export const PersonIcon = () => (
  <Icon size={12}>
    <circle cx="12" cy="8" r="4" />
    <path d="M4.500 20.500a7.500 7.500 0 0 1 15 0" />
  </Icon>
);

const CHANNEL_SHAPES: Readonly<Record<Channel, ReactNode>> = {
  messenger: (
    <>
      <path d="M12 3.500c-5 0-8.500 3.500-8.500 8 0 2.500 1.100 4.600 3 6v3l2.800-1.500c.9.200 1.800.4 2.700.4 5 0 8.500-3.500 8.500-7.900s-3.500-8-8.500-8z" />
      <path d="M7.500 13.500l3-3 2.800 2.200 3.200-3" />
    </>
  ),
  instagram: (
    <>
      <rect x="4" y="4" width="16" height="16" rx="4.500" />
      <circle cx="12" cy="12" r="3.600" />
      <path d="M16.600 7.400h.01" />
    </>
  ),
  whatsapp: (
    <>
      <path d="M4 20l1.300-4A8.200 8.200 0 1 1 8.200 18.800z" />
      <path d="M9.300 8.700c.2 3 2.900 5.700 6 6 .7-.5.9-1.300.6-1.700l-1.800-.9-1 .9c-1-.5-1.700-1.300-2.200-2.200l.9-1-.8-1.800c-.5-.3-1.300 0-1.700.7z" />
    </>
  ),
  sms: (
    <>
      <rect x="3.500" y="5" width="17" height="12" rx="3" />
      <path d="M8 17v3.500l4-3.500M8 9.500h8M8 12.800h5" />
    </>
  ),
};

/** The channel's sign, named for whoever cannot see it. */
export function ChannelIcon({ channel }: { readonly channel: Channel }) {
  return (
    <span
      className="channel"
      data-channel={channel}
      role="img"
      aria-label={CHANNEL_NAMES[channel]}
      title={CHANNEL_NAMES[channel]}
    >
      <Icon size={20}>{CHANNEL_SHAPES[channel]}</Icon>
    </span>
  );
}
