import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { commands } from "../../src/cli/commands.ts";
import { mcpCommand } from "../../src/cli/mcp.ts";
import { keyVariable } from "../../src/cli/remote-address.ts";
import { loopbackNames } from "../../src/protocols/mcp/senders.ts";
import { textMaxCharacters } from "../../src/protocols/mcp/text.ts";
import { tools } from "../../src/protocols/mcp/tools.ts";

const textOf = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), "utf8");
const text = textOf("docs/agents.md");
const manifest = JSON.parse(textOf("package.json"));
const server = JSON.parse(textOf("server.json"));
const blocks = (language: string) =>
  [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]+?)\`\`\``, "g"))].map(
    ([, block = ""]) => block,
  );

describe("docs/agents.md", () => {
  test("has every tool with its arguments, in their order, and no other", () => {
    const rows = [...text.matchAll(/^\| `(\w+)` \| (.+?) \| .+ \|$/gm)].map(([, name, names = ""]) => ({
      name,
      names: [...names.matchAll(/`(\w+)`/g)].map(([, argument]) => argument),
    }));
    expect(rows).toEqual(
      tools.map(({ name, inputSchema }) => ({ name, names: Object.keys(inputSchema.properties) })),
    );
  });

  test("says what is so: how long a text is, which names a machine has for itself, which command there is", () => {
    expect(text).toContain(`at most ${textMaxCharacters} characters`);
    expect(text).toContain(
      `\`${loopbackNames[0]}\`, \`${loopbackNames[1]}\` and \`${loopbackNames[2]}\` alone`,
    );
    expect(text).toContain(keyVariable);
    expect(Object.keys(commands)).toContain("mcp");
  });

  test("has a configuration for each client that is JSON, and runs what there is", () => {
    const servers = blocks("json").map((block) => {
      const { mcpServers, servers = mcpServers } = JSON.parse(block);
      return servers.kibitz;
    });
    expect(servers).toHaveLength(4);
    for (const { command, args, url } of servers) {
      expect(command === undefined ? new URL(url).pathname : [command, ...args]).toEqual(
        command === undefined ? "/mcp" : ["kibitz", "mcp"],
      );
    }
    expect(Object.keys(manifest.bin)).toEqual(["kibitz"]);
    expect(blocks("toml")[0]).toContain('command = "kibitz"\nargs = ["mcp", "--url"');
    expect(text).toContain(`| \`npx\` | \`-y\`, \`${manifest.name}\`, \`mcp\` |`);
  });
});

test("server.json is of this package and this version, and the package says so, too", () => {
  expect(server).toMatchObject({
    name: manifest.mcpName,
    version: manifest.version,
    packages: [{ identifier: manifest.name, version: manifest.version, transport: { type: "stdio" } }],
  });
  expect(server.name).toMatch(/^[a-z0-9.-]+\/[a-z0-9._-]+$/);
  // The registry takes no more.
  expect(server.description.length).toBeLessThanOrEqual(100);
});

test("server.json has the command of the agents, and an option that it knows", () => {
  const [{ packageArguments }] = server.packages;
  expect(packageArguments).toEqual([
    { type: "positional", value: mcpCommand.usage },
    expect.objectContaining({ type: "named", name: "--url", isRequired: false }),
  ]);
  expect(Object.keys(mcpCommand.options)).toContain("url");
});
