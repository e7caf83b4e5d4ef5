/** What is drawn over time. */
export interface Curve {
  readonly title: string;
  readonly unit: string;
  readonly values: readonly number[];
}

const width = 900;
const rowHeight = 120;
const left = 90;
const top = 28;

/** The curves below each other, over the same minutes, as an SVG. */
export function plot(title: string, minutes: readonly number[], curves: readonly Curve[]): string {
  const height = top + curves.length * rowHeight + 30;
  const last = minutes.at(-1) ?? 1;
  const x = (minute: number) => left + (minute / last) * (width - left - 20);
  const rows = curves.map(({ title: name, unit, values }, index) => {
    const most = Math.max(...values) * 1.1 || 1;
    const base = top + (index + 1) * rowHeight - 20;
    const y = (value: number) => base - (value / most) * (rowHeight - 40);
    const points = values.map((value, at) => `${x(minutes[at] ?? 0).toFixed(1)},${y(value).toFixed(1)}`);
    return [
      `<line x1="${left}" y1="${base}" x2="${width - 20}" y2="${base}" stroke="#bbb"/>`,
      `<text x="${left}" y="${base - rowHeight + 36}">${name}</text>`,
      `<text x="${left - 8}" y="${y(most / 1.1) + 4}" text-anchor="end">${(most / 1.1).toPrecision(3)} ${unit}</text>`,
      `<text x="${left - 8}" y="${base + 4}" text-anchor="end">0</text>`,
      `<polyline fill="none" stroke="#2a6f97" stroke-width="1.5" points="${points.join(" ")}"/>`,
    ].join("\n");
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">
<title>${title}</title>
<rect width="100%" height="100%" fill="#fff"/>
<text x="${left}" y="18" font-weight="bold">${title}</text>
${rows.join("\n")}
<text x="${width - 20}" y="${height - 10}" text-anchor="end">${last.toFixed(0)} minutes</text>
</svg>
`;
}
