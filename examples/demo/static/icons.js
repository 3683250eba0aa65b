import { draw } from './dom.js';

/** Pictograms of 24 by 24, as strokes. */
const SHAPES = {
  announcement: ['M4 10v4h3l7 4V6l-7 4z', 'M18 9.500a4 4 0 0 1 0 5'],
  documentHot: ['M12 3c1 4 6 6 6 11a6 6 0 0 1-12 0c0-3 2-4 2.5-6.5 1.5 1 2 2 2 3.5 1.5-2 2-5 1.5-8z'],
  documentWeek: ['M12 4l2.4 5 5.6.7-4.1 3.8 1.1 5.5-5-2.8-5 2.8 1.1-5.500L4 9.7 9.6 9z'],
  chat: ['M4 6h16v10h-9l-4 4v-4H4z'],
  note: ['M4 6h16v12H4z', 'M4 7l8 6 8-6'],
  comment: ['M4 6h16v10h-9l-4 4v-4H4z', 'M8 10h8M8 13h5'],
  recomment: ['M9 6l-5 5 5 5', 'M4 11h10a5 5 0 0 1 5 5v2'],
  place: ['M12 21c5-5.5 7-8.5 7-11a7 7 0 0 0-14 0c0 2.5 2 5.5 7 11z', 'M12 8a2 2 0 1 0 0 4a2 2 0 0 0 0-4z'],
  picture: ['M4 5h16v14H4z', 'M4 16l5-5 4 4 3-3 4 4', 'M15 9h.01'],
  other: ['M12 8v5', 'M12 16h.01', 'M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18z'],
};

/** @param name a notification type, `place` or `picture` */
export function icon(name) {
  const shape = SHAPES[name] ?? SHAPES.other;
  return draw(
    'svg',
    { class: 'icon', viewBox: '0 0 24 24', 'aria-hidden': 'true' },
    ...shape.map((d) => draw('path', { d })),
  );
}
