import { signal } from "@preact/signals";
import { createKeptSwitch } from "./kept-switch.ts";

/** Switches for what is drawn. The analysis itself has its own switch. */
export function createDisplay() {
  return {
    arrows: createKeptSwitch("arrows"),
    bar: createKeptSwitch("bar"),
    lines: createKeptSwitch("lines"),
    brown: createKeptSwitch("brown"),
    /** True if a finger draws arrows and circles instead of moving pieces. */
    drawing: signal(false),
    /** True if the settings of the engine are in view. A large window has room for them. */
    settings: signal(matchMedia("(min-width: 48rem) and (min-height: 40rem)").matches),
  };
}
