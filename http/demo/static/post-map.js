import { draw, make, picture } from './dom.js';
import { OUTLINE, PLACES, RIVER } from './seoul.js';

/** The drawing's size in its own units, and what it shows. */
const WIDTH = 1_000;
const HEIGHT = 730;
const NORTH = 37.715;
const SOUTH = 37.42;
const WEST = 126.72;
const EAST = 127.23;

/** Radius of a picture on the map, in pixels of the screen: to be seen and met by a finger. */
const RADIUS_PX = 15;

/** Equirectangular: over one city, nobody sees the difference. */
function project([latitude, longitude]) {
  return [((longitude - WEST) / (EAST - WEST)) * WIDTH, ((NORTH - latitude) / (NORTH - SOUTH)) * HEIGHT];
}

function path(points, end) {
  const text = points.map((point) =>
    project(point)
      .map((value) => value.toFixed(1))
      .join(' '),
  );
  return `M${text.join(' L')}${end}`;
}

function ground() {
  return [
    draw('path', { class: 'city', d: path(OUTLINE, 'Z') }),
    draw('path', { class: 'river', d: path(RIVER, '') }),
    ...PLACES.map(({ name, at }) => {
      const [x, y] = project(at);
      const label = draw('text', { class: 'place', x, y: y + 4, 'text-anchor': 'middle' });
      label.textContent = name;
      return label;
    }),
  ];
}

/** Moves posts of one corner apart until their pictures hardly hide each other. */
function spread(points, radius) {
  const gap = radius * 1.9;
  for (let round = 0; round < 40; round += 1) {
    for (const a of points) {
      for (const b of points) {
        if (a === b) continue;
        const [dx, dy] = [b.x - a.x, b.y - a.y];
        const distance = Math.hypot(dx, dy) || 0.1;
        if (distance >= gap) continue;
        const push = (gap - distance) / 2 / distance;
        b.x += (dx || 0.1) * push;
        b.y += dy * push;
        a.x -= (dx || 0.1) * push;
        a.y -= dy * push;
      }
    }
  }
  return points;
}

/**
 * The adoption posts on a drawn map, and what the chosen one is.
 *
 * @param place the element it fills
 * @param actors gives the sessions of both sides
 * @param onAsk called with a session and a post when somebody wants to ask about it
 */
export function createPostMap(place, actors, onAsk) {
  const card = make(
    'div.post',
    { 'aria-live': 'polite' },
    make('p.empty', {}, 'Choose an animal on the map.'),
  );
  const map = draw('svg', {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: 'group',
    'aria-label': 'Map of Seoul with adoption posts',
  });
  place.replaceChildren(make('div.map-frame', {}, map), card);
  let chosen;

  function show(post, marker) {
    map.querySelector('.chosen')?.classList.remove('chosen');
    marker.classList.add('chosen');
    chosen = post;
    showCard();
  }

  function showCard() {
    if (!chosen) return;
    const { name, age, kind, thumbnail, latitude, longitude } = chosen;
    const status = make('p.problem', { role: 'alert' });
    card.replaceChildren(
      picture(thumbnail, 120) ?? '',
      make('h3', {}, name),
      make('p', {}, `${kind} · ${age}`),
      make('p.coords', {}, `${latitude.toFixed(4)}, ${longitude.toFixed(4)}`),
      ...actors().map((session) =>
        make(
          'button.quiet',
          {
            type: 'button',
            click: async () => {
              status.textContent = '';
              try {
                await onAsk(session, chosen);
              } catch (error) {
                status.textContent = error.message;
              }
            },
          },
          `Ask as ${session.member.nickname}`,
        ),
      ),
      status,
    );
  }

  function marker({ post, x, y }, radius) {
    const clip = `clip-${post.id}`;
    const shape = picture(post.thumbnail, radius * 2)
      ? [
          draw('clipPath', { id: clip }, draw('circle', { r: radius * 0.93 })),
          draw('image', {
            href: post.thumbnail,
            x: -radius,
            y: -radius,
            width: radius * 2,
            height: radius * 2,
            'clip-path': `url(#${clip})`,
          }),
        ]
      : [];
    const element = draw(
      'g',
      {
        class: 'marker',
        transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
        tabindex: '0',
        role: 'button',
        'data-post': post.id,
        'aria-label': `${post.name}, ${post.kind}, ${post.age}`,
        click: () => show(post, element),
        keydown(event) {
          if (event.key !== 'Enter' && event.key !== ' ') return;
          event.preventDefault();
          show(post, element);
        },
      },
      draw('circle', { r: radius }),
      ...shape,
    );
    return element;
  }

  return {
    actorsChanged: showCard,
    async load() {
      const posts = await actors()[0].get('/adopt/render');
      const points = posts.map((post) => {
        const [x, y] = project([post.latitude, post.longitude]);
        return { post, x, y };
      });
      const visible = points.filter(({ x, y }) => x > 0 && x < WIDTH && y > 0 && y < HEIGHT);
      const radius = (RADIUS_PX * WIDTH) / (map.clientWidth || WIDTH);
      map.replaceChildren(...ground(), ...spread(visible, radius).map((point) => marker(point, radius)));
    },
  };
}
