import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { packedPackage } from "../../../support/packed-package.ts";
import type { Scene, Story } from "../story.ts";
import type { Ran, Terminal } from "../world.ts";

const root = join(import.meta.dirname, "../../../..");
const running = "docs/running.md";

/** Runs commands that belong to no document. Throws if one of them fails. */
async function runHere(terminal: Terminal, commands: string): Promise<string> {
  return printedBy(await terminal.run(commands));
}

function printedBy({ stdout, stderr, failed }: Ran): string {
  expect(failed, stdout + stderr).toEqual([]);
  return stdout;
}

const isReady = "until curl -sf localhost:9464/readyz; do sleep 0.1; done";

export async function putPackage({ world, terminal }: Pick<Scene, "world" | "terminal">): Promise<void> {
  copyFileSync((await packedPackage()).path, world.outside("/root/kibitz-chess-0.1.0.tgz"));
  // Earlier tests have the same packages in the cache of npm.
  await runHere(terminal, "echo prefer-offline=true >>~/.npmrc");
}

/** Runs the lines that install the service, and checks that the service and its man page are as the document says. */
export async function installService(lines: string, terminal: Terminal): Promise<void> {
  printedBy(await terminal.run(lines));
  await runHere(terminal, isReady);
  const main = "/proc/$(systemctl show --property MainPID --value kibitz)";
  expect(await runHere(terminal, `readlink ${main}/exe`)).toMatch(/^\/opt\/kibitz\/lib\/.+\/node\n$/);
  expect(await runHere(terminal, `stat --format %u ${main}`)).not.toBe("0\n");
  expect(await runHere(terminal, "systemctl is-enabled kibitz")).toBe("enabled\n");
  // This command also looks for the man page that the unit names.
  const { stdout, stderr, failed } = await terminal.run("systemd-analyze verify --man=yes kibitz.service");
  expect({ stdout, stderr, failed }).toEqual({ stdout: "", stderr: "", failed: [] });
  expect(await runHere(terminal, "man kibitz")).toContain("kibitz keys create");
  const sandbox = await runHere(terminal, `journalctl -u kibitz -o cat | grep '"msg":"engine sandbox'`);
  expect(JSON.parse(sandbox)).toMatchObject({ lacks: [] });
}

/** The service on one machine, from its installation to the pages for alerts. */
export const operators: Story = {
  documents: [
    running,
    "docs/runbook/KibitzDescriptorsShort.md",
    "docs/runbook/KibitzFailingSlowly.md",
    "docs/runbook/KibitzRefusingMany.md",
  ],
  needs: ["systemd", "man-db", "jq", "prometheus"],
  reader: "root",
  boots: true,
  prepare: putPackage,
  blocks: [
    {
      document: running,
      has: "systemctl enable",
      does: ({ text }, { terminal }) => installService(text, terminal),
    },
    {
      document: running,
      has: "tar -xzf",
      async does({ text }, { terminal }) {
        await runHere(terminal, "mkdir unpacked && cd unpacked && cp ../kibitz-chess-0.1.0.tgz .");
        printedBy(await terminal.run(text));
        const generated = await runHere(
          terminal,
          `cd examples/typescript
           PATH=${root}/node_modules/.bin:$PATH buf generate --template buf.gen.typescript.yaml
           find gen -name '*_pb.ts'
           cd ~`,
        );
        expect(generated).toContain("gen/chess/analysis/v1/analysis_service_pb.ts");
      },
    },
    {
      document: running,
      has: "as_kibitz doctor",
      async does({ text }, { terminal }) {
        expect(printedBy(await terminal.run(text))).toMatch(/^! port .+\n[\s\S]*Ready to serve/m);
        await runHere(terminal, 'kibitz() { as_kibitz "$@"; }');
      },
    },
    {
      document: running,
      has: "as_kibitz keys create",
      async does({ text }, { terminal }) {
        expect(printedBy(await terminal.run(text))).toMatch(/"summary":[\s\S]+\nkbz_\w+\n/);
      },
    },
    {
      document: running,
      has: '"plans"',
      async does({ text }, { terminal }) {
        await runHere(
          terminal,
          `echo '{"plans": []}' >/etc/kibitz-plans.json
           echo KIBITZ_PLANS=/etc/kibitz-plans.json >>/etc/kibitz/kibitz.env
           systemctl restart kibitz
           ${isReady}
           cat >/etc/kibitz-plans.json <<'END'\n${text}\nEND
           systemctl reload kibitz
           until curl -s localhost:8080/price | grep -q '"id":"club"'; do sleep 0.1; done`,
        );
      },
    },
    {
      document: running,
      has: "Content-Security-Policy",
      async does({ text }, { terminal }) {
        const headers = await runHere(
          terminal,
          "curl -sD - -o page.html -H 'Accept: text/html' localhost:8080",
        );
        expect(
          headers
            .split("\r\n")
            .map((line) =>
              line.replace("content-security", "Content-Security").replace("-policy:", "-Policy:"),
            ),
        ).toContain(text);
      },
    },
    {
      document: running,
      has: "kibitz restore",
      async does({ text }, { terminal }) {
        printedBy(await terminal.run(text));
        // The service can still write its database.
        await runHere(
          terminal,
          `${isReady}\ncurl -sf localhost:8080/v1/keys --json '{"name": "after the restore"}'`,
        );
      },
    },
    {
      document: running,
      has: "journalctl",
      async does({ text }, { terminal }) {
        expect(printedBy(await terminal.run(text))).toMatch(/^ +\d+ ok$/m);
      },
    },
    {
      document: running,
      has: "createInterface",
      async does({ text }, { terminal }) {
        const printed = await runHere(
          terminal,
          `cat >program.mjs <<'END'\n${text}\nEND\nPATH=/opt/kibitz/bin:$PATH node program.mjs`,
        );
        expect(printed).toMatch(/Best move: /);
      },
    },
    {
      document: "docs/runbook/KibitzFailingSlowly.md",
      has: "topk(",
      async does({ text }, { terminal }) {
        const rules = { groups: [{ name: "runbook", rules: [{ record: "found", expr: text }] }] };
        await runHere(
          terminal,
          `cat >rules.yml <<'END'\n${JSON.stringify(rules)}\nEND\npromtool check rules rules.yml`,
        );
      },
    },
  ],
};
