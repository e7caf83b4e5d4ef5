import { expect, test } from "vitest";
import { agentKinds, mcpProcess } from "../../protocols/mcp/agents.ts";
import { rehearse } from "../../protocols/mcp/rehearsal.ts";
import { quickestSettings } from "../../support/quickest-settings.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const env = { ...quickestSettings, KIBITZ_DATA_DIR: useTemporaryFolder() };

test.each(agentKinds)(
  "an agent with MCP client $name completes a session with kibitz mcp, using only the texts of earlier results",
  async (kind) => {
    const session = await rehearse(await kind.overStdio(mcpProcess(env)));
    const refusals = session.filter(({ result }) => result.isError).map(({ what }) => what);
    expect(refusals).toEqual(["name a move that is not legal"]);
    const [position, compared, refused, shown, played, review] = session.map(({ result }) => result.text);
    expect(position).toContain(
      "White to move. FEN: rn2kb1r/p3qppp/2p2n2/1p2p1B1/2B1P3/1QN5/PPP2PPP/R3K2R w KQkq - 0 10",
    );
    expect(position).toMatch(/^White (\+\d|mates)/);
    expect(compared).toMatch(/#1 Nxb5 .+\n#2 Be2 .+\n#3 O-O-O /);
    expect(refused).toContain("'Bxb6+'");
    expect(shown).toContain("White to move");
    expect(played).toContain("Black to move");
    expect(review).toMatch(/Paul Morphy – Duke Karl \/ Count Isouard, 1-0, 33 half-moves/);
    expect(review).toContain("C41 Philidor Defense");
    expect(session.map(({ what, result }) => ({ what, length: result.text.length <= 4000 }))).toEqual(
      session.map(({ what }) => ({ what, length: true })),
    );
  },
);
