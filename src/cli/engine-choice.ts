import type { Command } from "./command.ts";

export const engineChoice = {
  engine: {
    type: "string",
    short: "e",
    value: "<id>",
    about: "an id listed by kibitz engines (default latest)",
  },
  path: { type: "string", short: "p", value: "<path>", about: "auto, wasm or native (default auto)" },
} as const satisfies Command["options"];
