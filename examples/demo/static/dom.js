/**
 * Makes an element. Strings become text nodes: markup in them has no effect.
 *
 * @param tag its name, with classes after dots: `button.primary`
 * @param properties attributes; functions are event listeners, `false` and `undefined` are left out
 * @param children elements and strings
 */
export function make(tag, properties = {}, ...children) {
  const [name, ...classes] = tag.split('.');
  const element = document.createElement(name);
  if (classes.length > 0) element.className = classes.join(' ');
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(key, value);
    else element.setAttribute(key, value === true ? '' : String(value));
  }
  element.append(...children.filter((child) => child !== undefined && child !== false));
  return element;
}

/** Makes an SVG element. */
export function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(key, value);
    else element.setAttribute(key, String(value));
  }
  element.append(...children);
  return element;
}

const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hour12: false });
const day = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric' });

/** The time of day for today, else the date. */
export function shortTime(epochMs) {
  const date = new Date(epochMs);
  const isToday = date.toDateString() === new Date().toDateString();
  return (isToday ? clock : day).format(date);
}

/** A picture of this origin, or none: the page requests nothing from other hosts. */
export function picture(address, size, alternative = '') {
  if (typeof address !== 'string' || !/^\/demo\/[\w/-]+\.svg$/.test(address)) return undefined;
  return make('img', { src: address, alt: alternative, width: size, height: size, loading: 'lazy' });
}

/** A member's picture, or the first letter of their name. */
export function avatar({ nickname, profile }, size = 36) {
  return make('span.avatar', { 'aria-hidden': 'true' }, picture(profile, size) ?? [...nickname][0] ?? '?');
}
