import { styleText } from "node:util";
import type { Host } from "../host.ts";

/** How text is shown: in colours on a terminal that takes them, else as it is. */
export interface Style {
  readonly hasColors: boolean;
  /** How wide a line may be, in characters. */
  readonly columns: number;
  paint(format: Parameters<typeof styleText>[0], text: string): string;
}

/** Where nobody looks, lines are as long as on most terminals. */
const usualColumns = 80;

/** @see https://no-color.org */
export function styleOf({ env, stdout }: Pick<Host, "env" | "stdout">): Style {
  const hasColors = stdout.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
  return {
    hasColors,
    columns: (stdout.isTTY && stdout.columns) || usualColumns,
    paint: (format, text) => (hasColors ? styleText(format, text, { validateStream: false }) : text),
  };
}
