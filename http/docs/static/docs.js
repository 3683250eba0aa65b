/** Enhances the page: fills in the address, copies, filters, and marks the section in view. */

/** How long a button confirms that it has copied, ms. */
const SAID_MS = 1_500;

for (const place of document.querySelectorAll('[data-origin]')) place.textContent = location.origin;

function addCopyButton(pre) {
  const box = document.createElement('div');
  box.className = 'code-box';
  pre.before(box);
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.setAttribute('aria-label', `Copy: ${pre.getAttribute('aria-label')}`);
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(pre.textContent);
      button.textContent = 'Copied';
    } catch {
      // Without permission, or over plain HTTP from another machine, the text is selected instead.
      getSelection().selectAllChildren(pre);
      button.textContent = 'Selected';
    }
    setTimeout(() => {
      button.textContent = 'Copy';
    }, SAID_MS);
  });
  box.append(button, pre);
}

for (const pre of document.querySelectorAll('pre')) addCopyButton(pre);

const contents = document.querySelector('#contents');
const menu = document.querySelector('#menu');

function openMenu(open) {
  contents.classList.toggle('open', open);
  menu.setAttribute('aria-expanded', String(open));
}

menu.addEventListener('click', () => openMenu(menu.getAttribute('aria-expanded') !== 'true'));
contents.addEventListener('click', (event) => {
  if (event.target.closest('a')) openMenu(false);
});
addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || menu.getAttribute('aria-expanded') !== 'true') return;
  openMenu(false);
  menu.focus();
});

const filter = document.querySelector('#filter');
const groups = [...contents.querySelectorAll('nav > ul > li')];
filter.hidden = false;
filter.addEventListener('input', () => {
  const words = filter.value.trim().toLowerCase().split(/\s+/);
  const fits = (element) => words.every((word) => element.textContent.toLowerCase().includes(word));
  for (const group of groups) {
    const entries = [...group.querySelectorAll('li')];
    const whole = fits(group.querySelector('.group-link'));
    for (const entry of entries) entry.hidden = !whole && !fits(entry);
    group.hidden = !whole && !entries.some((entry) => !entry.hidden);
  }
});

const links = new Map(
  [...contents.querySelectorAll('nav a')].map((link) => [link.getAttribute('href').slice(1), link]),
);
const visible = new Set();

/** Marks the topmost of what is in view. */
function markCurrent() {
  const top = [...links.keys()].find((id) => visible.has(id));
  if (top === undefined) return;
  for (const [id, link] of links) {
    if (id === top) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
  // Not scrollIntoView: it would scroll the page too.
  const link = links.get(top);
  const above = link.offsetTop - contents.scrollTop;
  if (above < 0 || above > contents.clientHeight - link.offsetHeight) {
    contents.scrollTop = link.offsetTop - contents.clientHeight / 2;
  }
}

const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) visible.add(target.id);
      else visible.delete(target.id);
    }
    markCurrent();
  },
  { rootMargin: '-15% 0px -70% 0px' },
);
for (const id of links.keys()) {
  const section = document.getElementById(id);
  if (section && section.tagName !== 'MAIN') observer.observe(section);
}
