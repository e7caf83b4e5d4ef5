import { createKeptSwitch } from "./kept-switch.ts";

/** Switches for what is drawn. The analysis itself has its own switch. */
export function createDisplay() {
  return {
    arrows: createKeptSwitch("arrows"),
    bar: createKeptSwitch("bar"),
    lines: createKeptSwitch("lines"),
    brown: createKeptSwitch("brown"),
  };
}
