import type { Score } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { Bound } from "../../../gen/chess/analysis/v1/analysis_pb.ts";

/** Formats a score from White's side: `+0.24`, `−1.30`, `#3`, `#−3`. A bound begins with `≥` or `≤`. */
export function scoreText(score: Score | undefined): string {
  if (score === undefined) {
    return "";
  }
  const { value, bound } = score;
  const sign = bound === Bound.LOWER ? "≥ " : bound === Bound.UPPER ? "≤ " : "";
  switch (value.case) {
    case "cp":
      return `${sign}${value.value > 0 ? "+" : ""}${minus((value.value / 100).toFixed(2))}`;
    case "mate":
      return value.value === 0 ? "#" : `${sign}#${minus(String(value.value))}`;
    default:
      return "";
  }
}

function minus(number: string): string {
  return number.replace(/^-/, "−");
}

/** Shortens a large number, for example to `45.4 k` or `1.25 M`. */
export function briefly(count: number | bigint): string {
  const number = Number(count);
  const [unit, divisor] =
    number >= 1e9 ? ["G", 1e9] : number >= 1e6 ? ["M", 1e6] : number >= 1e3 ? ["k", 1e3] : ["", 1];
  const short = number / divisor;
  return unit === ""
    ? String(number)
    : `${short.toPrecision(3).includes("e") ? Math.round(short) : short.toPrecision(3)} ${unit}`;
}
