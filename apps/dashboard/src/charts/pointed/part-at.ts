/** Index of the part at a share of the width, of `count` parts of the same width. */
export const partAt = (share: number, count: number): number =>
  Math.max(0, Math.min(count - 1, Math.floor(share * count)));
