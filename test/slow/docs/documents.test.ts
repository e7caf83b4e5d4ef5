import { describe, expect } from "vitest";
import { testWith } from "../../support/needs.ts";
import { runStory, runs } from "./run-document.ts";
import { stories } from "./stories/index.ts";
import { treatBlocks } from "./story.ts";

const inCi = stories.filter((story) =>
  story.documents.some((document) => treatBlocks(story, document).some((treated) => runs(treated, false))),
);

describe.each(inCi)("$documents", (story) => {
  testWith(
    "root",
    "namespaces",
    "mounts",
    ...(story.needs ?? []),
  )(
    `the blocks of ${story.documents.join(", ")} that need no toolchain run and answer as printed`,
    async () => {
      expect(await runStory(story, false)).toEqual([]);
    },
    // A block that hangs ends after two minutes, with its name.
    600_000,
  );
});
