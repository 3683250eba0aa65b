import { draw, make, picture } from './dom.js';
import { OUTLINE, PLACES, RIVER } from './seoul.js';

/** Size of the drawing in its own units, and the degrees it shows. */
const WIDTH = 1_000;
const HEIGHT = 730;
const NORTH = 37.715;
const SOUTH = 37.42;
const WEST = 126.72;
const EAST = 127.23;

/** Radius of a picture on the map, in CSS pixels: large enough for a finger. */
const RADIUS_PX = 15;

/** Equirectangular projection: exact enough for one city. */
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

/** Moves two points apart, each by half of what is missing to the gap. */
function pushApart(a, b, gap) {
  const [dx, dy] = [b.x - a.x || 0.1, b.y - a.y];
  const distance = Math.hypot(dx, dy);
  if (distance >= gap) return;
  const push = (gap - distance) / 2 / distance;
  b.x += dx * push;
  b.y += dy * push;
  a.x -= dx * push;
  a.y -= dy * push;
}

/** Separates posts that are close together until their pictures hardly overlap. */
function spread(points, radius) {
  for (let round = 0; round < 40; round += 1) {
    for (const a of points) for (const b of points) if (a !== b) pushApart(a, b, radius * 1.9);
  }
  return points;
}

function markerOf({ post, x, y }, radius, onChoose) {
  const clip = `clip-${post.id}`;
  const side = radius * 2;
  const image = { href: post.thumbnail, x: -radius, y: -radius, width: side, height: side };
  const shape = picture(post.thumbnail, side)
    ? [
        draw('clipPath', { id: clip }, draw('circle', { r: radius * 0.93 })),
        draw('image', { ...image, 'clip-path': `url(#${clip})` }),
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
      click: () => onChoose(post, element),
      keydown(event) {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        onChoose(post, element);
      },
    },
    draw('circle', { r: radius }),
    ...shape,
  );
  return element;
}

/**
 * The adoption posts on a drawn map, and the chosen one.
 *
 * @param place the element it fills
 * @param actors returns the sessions of both sides
 * @param onAsk called with a session and a post to ask about
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
      map.replaceChildren(
        ...ground(),
        ...spread(visible, radius).map((point) => markerOf(point, radius, show)),
      );
    },
  };
}
