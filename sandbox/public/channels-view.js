import { byId, make } from './dom.js';

export const CHANNELS = [
  { id: 'messenger', name: 'Messenger' },
  { id: 'instagram', name: 'Instagram' },
  { id: 'whatsapp', name: 'WhatsApp' },
  { id: 'sms', name: 'SMS' },
];

/** Arrow keys move between the tabs, as a tab list promises. */
function neighbour(event, index) {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (step === undefined) return null;
  return CHANNELS.at((index + step) % CHANNELS.length);
}

/** Builds the channel switch once; `choose` hears the id of the chosen channel. */
export function buildChannels(choose) {
  const tabs = CHANNELS.map(({ id, name }, index) => {
    const tab = make(
      'button',
      {
        type: 'button',
        role: 'tab',
        id: `tab-${id}`,
        'aria-controls': 'panel',
        'data-channel': id,
        'data-testid': `channel-${id}`,
      },
      [name],
    );
    tab.addEventListener('click', () => choose(id));
    tab.addEventListener('keydown', (event) => {
      const next = neighbour(event, index);
      if (next === null) return;
      event.preventDefault();
      choose(next.id);
      byId(`tab-${next.id}`).focus();
    });
    return tab;
  });
  byId('channels').append(...tabs);
}

/** Shows which channel the phone is on. */
export function showChannel(channel) {
  document.body.dataset.channel = channel;
  for (const { id } of CHANNELS) {
    const tab = byId(`tab-${id}`);
    tab.setAttribute('aria-selected', String(id === channel));
    tab.tabIndex = id === channel ? 0 : -1;
  }
  byId('panel').setAttribute('aria-labelledby', `tab-${channel}`);
}
