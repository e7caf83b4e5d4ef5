import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { blocksOf } from "../../docs/blocks.ts";
import { testWith } from "../../support/needs.ts";
import { installInto, installNode } from "../../support/npm-package.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";
import { installService, putPackage } from "../docs/stories/operators.ts";
import { openWorld } from "../docs/world.ts";

const folder = useTemporaryFolder();

testWith(
  "root",
  "namespaces",
  "mounts",
  "systemd",
  "man-db",
)(
  "the lines of docs/running.md install the service with the Node 18 and the npm 9.2 of Debian 12",
  async () => {
    const lines =
      blocksOf("docs/running.md").find(({ text }) => text.includes("systemctl enable"))?.text ?? "";
    installInto(join(folder, "npm"), "npm@9.2.0");
    const world = await openWorld({ isRoot: true, boots: true, registries: true, blockMaxMs: 5 * 60_000 });
    onTestFinished(() => world.close());
    mkdirSync(world.outside("/usr/local/bin"), { recursive: true });
    cpSync(installNode(join(folder, "node"), "18"), world.outside("/usr/local/bin/node"));
    cpSync(join(folder, "npm/node_modules/npm"), world.outside("/usr/local/lib/npm-9"), { recursive: true });
    symlinkSync("../lib/npm-9/bin/npm-cli.js", world.outside("/usr/local/bin/npm"));
    const terminal = world.openTerminal();
    const { stdout } = await terminal.run("node --version; npm --version");
    expect(stdout).toMatch(/^v18\..+\n9\.2\.0\n$/);
    await putPackage({ world, terminal });
    await installService(lines, terminal);
  },
);
