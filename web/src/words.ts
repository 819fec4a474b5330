import type { Author, Channel, ConversationState } from './generated/api';

export const CHANNEL_NAMES: Readonly<Record<Channel, string>> = {
  messenger: 'Messenger',
  instagram: 'Instagram',
  whatsapp: 'WhatsApp',
  sms: 'SMS',
};

/** States as staff call them, with a Mantine colour that is never the only sign. */
export const STATES: Readonly<Record<ConversationState, { label: string; color: string }>> = {
  active: { label: 'Active', color: 'cyan' },
  replied: { label: 'Replied', color: 'indigo' },
  booked: { label: 'Booked', color: 'green' },
  opted_out: { label: 'Opted out', color: 'gray' },
  paused: { label: 'Paused', color: 'orange' },
  closed: { label: 'Closed', color: 'gray' },
};

/** Who wrote, beside a bubble. */
export const AUTHORS: Readonly<Record<Author, string>> = {
  lead: 'Lead',
  automation: 'Automation',
  staff: 'Staff',
  native: "In the provider's app",
  import: 'Imported history',
};

export const DELIVERIES = {
  sent: 'Sent',
  delivered: 'Delivered',
  failed: 'Failed',
  unknown: 'May not have arrived',
} as const;

/** Dark enough for white text in both colour schemes; Mantine's own orange is not. */
export const NEEDS_PERSON_COLOR = '#a63c06';
