/** Opacity of the band of a line's bounds. */
export const BAND = 0.18;

/** Of lines with their points, and of bands, while another line stands out; and of names, which are read all the same. */
export const FADED = { line: 0.2, band: 0.05, name: 0.6 };
