import type { Story } from "../story.ts";

/** The first steps in a clone, with an older Node. */
export const readme: Story = {
  documents: ["README.md"],
  needsAtNight: ["grpcurl"],
  kibitz: "checkout",
  blocks: [
    {
      document: "README.md",
      has: "npm start",
      does: async ({ text }, { terminal }) => {
        await terminal.start(text, "curl -sf localhost:8080/readyz >/dev/null");
      },
    },
  ],
};
