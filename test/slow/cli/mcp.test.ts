import { expect, test } from "vitest";
import { agentKinds, mcpProcess } from "../../protocols/mcp/agents.ts";
import { rehearse } from "../../protocols/mcp/rehearsal.ts";
import { quickestSettings } from "../../support/quickest-settings.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const env = { ...quickestSettings, KIBITZ_DATA_DIR: useTemporaryFolder() };

test.each(agentKinds)(
  "kibitz mcp with engines of its own: a whole session of an agent of $name",
  async (kind) => {
    const session = await rehearse(await kind.overStdio(mcpProcess(env)));
    expect(session.filter(({ told }) => told.isError).map(({ what }) => what)).toEqual([
      "name a move that is not legal",
    ]);
    expect(session.every(({ told }) => told.text.length <= 4000)).toBe(true);
  },
);
