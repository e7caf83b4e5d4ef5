/** What is drawn. */
export interface Curve {
  readonly title: string;
  readonly unit: string;
  readonly values: readonly number[];
}

/** What it is drawn over. */
export interface Axis {
  readonly values: readonly number[];
  /** To be read behind the last value. */
  readonly unit: string;
  /** For what doubles from step to step. */
  readonly logarithmic?: boolean;
}

const width = 900;
const rowHeight = 120;
const left = 90;
const top = 28;

/** The curves below each other, over the same axis, as an SVG. */
export function plot(
  title: string,
  { values: places, unit, logarithmic = false }: Axis,
  curves: readonly Curve[],
): string {
  const height = top + curves.length * rowHeight + 30;
  const last = places.at(-1) ?? 1;
  const share = (place: number) => (logarithmic ? Math.log(place) / Math.log(last) : place / last);
  const x = (place: number) => left + share(place) * (width - left - 20);
  const rows = curves.map(({ title: name, unit: of, values }, index) => {
    const most = Math.max(...values) * 1.1 || 1;
    const base = top + (index + 1) * rowHeight - 20;
    const y = (value: number) => base - (value / most) * (rowHeight - 40);
    const points = values.map((value, at) => `${x(places[at] ?? 0).toFixed(1)},${y(value).toFixed(1)}`);
    return [
      `<line x1="${left}" y1="${base}" x2="${width - 20}" y2="${base}" stroke="#bbb"/>`,
      `<text x="${left}" y="${base - rowHeight + 36}">${name}</text>`,
      `<text x="${left - 8}" y="${y(most / 1.1) + 4}" text-anchor="end">${figure(most / 1.1)} ${of}</text>`,
      `<text x="${left - 8}" y="${base + 4}" text-anchor="end">0</text>`,
      `<polyline fill="none" stroke="#2a6f97" stroke-width="1.5" points="${points.join(" ")}"/>`,
    ].join("\n");
  });
  return `${frame(height, title)}
${rows.join("\n")}
<text x="${width - 20}" y="${height - 10}" text-anchor="end">${last.toFixed(0)} ${unit}</text>
</svg>
`;
}

/** A bar of a group. */
export interface Bar {
  readonly name: string;
  readonly value: number;
}

export interface BarGroup {
  readonly title: string;
  readonly bars: readonly Bar[];
}

const barHeight = 16;
const namesWidth = 180;

/** Groups below each other, each with a scale of its own, as an SVG. */
export function bars(title: string, unit: string, groups: readonly BarGroup[]): string {
  let y = top;
  const drawn = groups.flatMap(({ title: name, bars: each }) => {
    const most = Math.max(...each.map(({ value }) => value)) || 1;
    y += 26;
    const heading = `<text x="20" y="${y}" font-weight="bold">${name}</text>`;
    const rows = each.map((bar) => {
      y += barHeight + 4;
      const length = (bar.value / most) * (width - namesWidth - 130);
      return [
        `<text x="${namesWidth - 8}" y="${y}" text-anchor="end">${bar.name}</text>`,
        `<rect x="${namesWidth}" y="${y - barHeight + 4}" width="${length.toFixed(1)}" height="${barHeight}" fill="#2a6f97"/>`,
        `<text x="${(namesWidth + length + 6).toFixed(1)}" y="${y}">${figure(bar.value)} ${unit}</text>`,
      ].join("\n");
    });
    return [heading, ...rows];
  });
  return `${frame(y + 20, title)}
${drawn.join("\n")}
</svg>
`;
}

function frame(height: number, title: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">
<title>${title}</title>
<rect width="100%" height="100%" fill="#fff"/>
<text x="20" y="18" font-weight="bold">${title}</text>`;
}

function figure(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
}
