import type { Story } from "../story.ts";

/** The documents for people who change Kibitz. */
export const project: Story = {
  documents: [
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "RELEASING.md",
    "docs/measured.md",
    "src/engine/README.md",
  ],
  kibitz: "checkout",
  blocks: [
    {
      document: "CONTRIBUTING.md",
      has: "npm run dev",
      atNight: true,
      does: async ({ text }, { terminal }) => {
        await terminal.start(text, "curl -sf localhost:8080/readyz >/dev/null");
      },
    },
    { document: "CONTRIBUTING.md", has: "/v1/eval", atNight: true },
    { document: "RELEASING.md", has: "npm run release", ranBy: ".ci/run" },
    { document: "RELEASING.md", has: "try-image.ts", ranBy: "tools/nightly-steps.ts" },
  ],
};
