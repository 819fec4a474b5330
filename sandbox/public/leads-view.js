import { byId, clockTime, make } from './dom.js';
import { initialsOf } from './names.js';

function snippetOf(last) {
  if (last === null) return 'No message yet';
  const side = last.from === 'lead' ? 'You: ' : '';
  const media = (last.media ?? []).map((kind) => `[${kind}]`).join(' ');
  return `${side}${[last.text, media].filter(Boolean).join(' ')}`;
}

/** Draws the list of leads. `open` is the lead whose thread the phone shows. */
export function showLeads(threads, open, choose) {
  const items = threads.map(({ lead, last }) => {
    const time = last === null ? '' : clockTime(last.at);
    const unread = last?.from === 'business' && lead !== open;
    const button = make(
      'button',
      {
        type: 'button',
        class: unread ? 'unread' : undefined,
        'data-testid': `lead-${lead}`,
        'aria-current': lead === open ? 'true' : undefined,
      },
      [
        make('span', { class: 'avatar', 'aria-hidden': 'true' }, [initialsOf(lead)]),
        make('span', { class: 'name' }, [lead]),
        make('time', last === null ? {} : { datetime: last.at }, [time]),
        make('span', { class: 'snippet' }, [snippetOf(last)]),
      ],
    );
    button.addEventListener('click', () => choose(lead));
    return make('li', {}, [button]);
  });
  const list = byId('lead-list');
  const focused = document.activeElement?.getAttribute('data-testid');
  list.replaceChildren(...items);
  if (focused?.startsWith('lead-')) {
    [...list.querySelectorAll('button')].find((b) => b.dataset.testid === focused)?.focus();
  }
}
