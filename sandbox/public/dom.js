/** The element with that id; the page is static, so a missing one is a mistake. */
export function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`The page has no element #${id}.`);
  return element;
}

/** Makes an element. `attributes` with a false or undefined value are left out. */
export function make(tag, attributes = {}, children = []) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });
const DAY = new Intl.DateTimeFormat(undefined, { weekday: 'long', month: 'short', day: 'numeric' });

export const clockTime = (iso) => CLOCK.format(new Date(iso));

/** "Today", or the day's name and date. */
export function dayOf(iso) {
  const day = DAY.format(new Date(iso));
  return day === DAY.format(new Date()) ? 'Today' : day;
}
