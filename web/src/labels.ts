/** Labels of marks on two logarithmic axes, each where it lies on no other label and on no mark. */

/** Of values in the order of their weight, those whose labels have so many pixels between them. */
export function spaced(values: number[], at: (value: number) => number, gap: number): number[] {
  const free = (kept: number[], value: number): boolean => kept.every((one) => Math.abs(at(one) - at(value)) >= gap);
  return values.reduce<number[]>((kept, value) => (free(kept, value) ? [...kept, value] : kept), []);
}

/** Places of the least distance, near those that are wanted, which ascend: those that are too close share what they are moved by. */
export function apart(wanted: number[], distance: number): number[] {
  const heaps: { sum: number; size: number }[] = [];
  wanted.forEach((at, i) => {
    // Without the distances all of a heap have one place.
    let heap = { sum: at - i * distance, size: 1 };
    for (let last = heaps.at(-1); last && last.sum / last.size > heap.sum / heap.size; last = heaps.at(-1)) {
      heap = { sum: last.sum + heap.sum, size: last.size + heap.size };
      heaps.pop();
    }
    heaps.push(heap);
  });
  return heaps.flatMap(({ sum, size }) => Array<number>(size).fill(sum / size)).map((at, i) => at + i * distance);
}

/** Pixels: of a character, of a line, and of a mark with its margin. */
const [CHARACTER, LINE, MARK] = [6.6, 14, 7];

export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

const clear = (a: Box, b: Box): boolean =>
  a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;

/** Places in the order in which they are tried: beside the mark, then above and below, further and further away. */
const SHIFTS = Array.from({ length: 41 }, (_, i) => (i % 2 ? 1 : -1) * Math.ceil(i / 2) * (LINE / 2));

/** Where each label begins, in the units of the axes; one that finds no free place stands beside its mark. */
export function placed<T extends { x: number; y: number; text: string }>(
  all: T[],
  x: [number, number],
  y: [number, number],
  room: Box,
): (T & { toX: number; toY: number; leadX: number | null; box: Box })[] {
  const share = (value: number, [low, high]: [number, number]): number => Math.log(value / low) / Math.log(high / low);
  const [width, height] = [room.right - room.left, room.bottom - room.top];
  const points = all.map((one) => ({
    one,
    at: room.left + share(one.x, x) * width,
    down: room.bottom - share(one.y, y) * height,
  }));
  const taken: Box[] = points.map(({ at, down }) => ({
    left: at - MARK,
    right: at + MARK,
    top: down - MARK,
    bottom: down + MARK,
  }));
  return points.map(({ one, at, down }, nth) => {
    const long = one.text.length * CHARACTER;
    const box = (left: number, shift: number): Box => ({
      left,
      right: left + long,
      top: down + shift - LINE / 2,
      bottom: down + shift + LINE / 2,
    });
    const inside = ({ left, right, top, bottom }: Box): boolean =>
      left >= room.left && right <= room.right + MARK && top >= room.top && bottom <= room.bottom;
    const tried = SHIFTS.flatMap((shift) =>
      [at + MARK + 2, at - MARK - 2 - long, at - long / 2].map((left) => box(left, shift)),
    );
    const own =
      tried.find((box) => inside(box) && taken.every((other, i) => i === nth || clear(box, other))) ?? tried[0]!;
    taken.push(own);
    const [low, high] = x;
    const back = (pixel: number): number => low * (high / low) ** ((pixel - room.left) / width);
    const middle = (own.top + own.bottom) / 2;
    const toY = y[0] * (y[1] / y[0]) ** ((room.bottom - middle) / height);
    // What leads to a label that stands away from its mark ends at the label's nearest point.
    const leadX = Math.abs(middle - down) > LINE ? back(Math.max(own.left, Math.min(own.right, at))) : null;
    return { ...one, toX: back(own.left), toY, leadX, box: own };
  });
}
