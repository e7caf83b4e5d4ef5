import { plainSettings } from "../../../../tools/shown-answers.ts";
import type { Need } from "../../../support/components.ts";
import type { SpecialBlock, Story } from "../story.ts";

/** The readers of the examples have what the pages demand: buf, and Node 24 or newer. */
const tools = { buf: "node_modules/@bufbuild/buf/bin/buf", node: "node_modules/node/bin/node" };

const example = (
  language: string,
  needsAtNight: readonly Need[],
  blocks: readonly SpecialBlock[] = [],
): Story => ({
  documents: [`examples/${language}/README.md`],
  needsAtNight,
  kibitz: "checkout",
  folder: `examples/${language}`,
  service: { ...plainSettings, KIBITZ_SYZYGY: "/opt/kibitz/test/tablebase/tables" },
  async prepare({ world }) {
    for (const [name, path] of Object.entries(tools)) {
      await world.run("ln", "--symbolic", `/opt/kibitz/${path}`, `/usr/local/bin/${name}`);
    }
  },
  blocks,
});

/** Each is a story, because each begins in its own folder. */
export const examples: readonly Story[] = [
  example("go", ["go"]),
  example("java", ["jdk", "maven"]),
  example("python", ["python"]),
  example(
    "typescript",
    [],
    [
      {
        document: "examples/typescript/README.md",
        has: "npm run web",
        atNight: true,
        does: async ({ text }, { terminal }) => {
          await terminal.start(text, "curl -sf localhost:5173 | grep -q '<script'");
        },
      },
    ],
  ),
];
